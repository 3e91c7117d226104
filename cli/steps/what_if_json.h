// What-if figures as JSON.
#pragma once

#include <string>

#include "scheduler/replay/what_if.h"

namespace podsim {

// An object; its keys are in docs/theory/stragglers.md. `trace_sha256` is of what the figures are of.
std::string what_if_json(const WhatIf& result, const std::string& trace_sha256);

}  // namespace podsim
