// What backward computes again, in the words of torchtitan.
#pragma once

#include <string>

#include "ingest/launchers/settings.h"

namespace podsim {

// "none", "full", "selective:op", "selective:2" (every second layer), "memory_budget". Other words are
// problems of the settings.
std::string read_torchtitan_recompute(Configuration& settings);

}  // namespace podsim
