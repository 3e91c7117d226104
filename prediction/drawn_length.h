// What chance may add to steps, held against simulated time.
#pragma once

#include <span>
#include <string>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

// Why pauses, stalls and late launches of all steps of a draw, or what computation is multiplied by in steps
// that are `step_s` long at most, may go on beyond simulated time; empty where they do not.
std::string why_endless_by_chance(const System& system, std::span<const SimulateOptions> draws,
                                  double step_s);

}  // namespace podsim
