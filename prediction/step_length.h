// Steps that go on beyond simulated time, told before they are simulated.
#pragma once

#include <span>

#include "engine/time_limits.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

// Throws StepTooLong, with the part that takes so long, where a step could take longer than kLongestStep, or
// all steps of a draw longer than kLongestRun, if nothing in it ran beside anything. Speeds that change count
// by their mean, or, where they change once, not at all. So do steps that take as long by what chance adds on
// average (drawn_length.h). What turns out longer than that is refused where it is simulated (simulate.h).
void refuse_endless(const System& system, std::span<const SimulateOptions> draws);

}  // namespace podsim
