// What-if figures as JSON.
#pragma once

#include <string>

#include "scheduler/replay/what_if.h"

namespace podsim {

// An object; its keys are in docs/stragglers.md.
std::string what_if_json(const WhatIf& result);

}  // namespace podsim
