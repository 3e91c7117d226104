// The scenarios that benchmarks run.
#pragma once

#include <string>
#include <vector>

#include "proto/scenario/load.h"

namespace podsim {

// Of PATH.textproto, from the root of the sources. Tells what is wrong with it and ends the process with 2.
Spec load_or_exit(const std::string& path, const std::vector<Override>& overrides = {});

}  // namespace podsim
