// What chance adds to steps on average, held against simulated time.
#pragma once

#include <span>
#include <string>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

// Why all steps of a draw take longer than kLongestRun by the mean of what pauses, stalls or late launches
// add at least; empty where they do not. Causes may pass beside each other, so that each counts by itself;
// how much they really add, the simulation finds out. O(draws x chip classes).
std::string why_endless_by_chance(const System& system, std::span<const SimulateOptions> draws);

}  // namespace podsim
