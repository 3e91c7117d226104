// Steps that go on beyond simulated time, told before they are simulated.
#pragma once

#include <span>
#include <stdexcept>

#include "engine/unit_factors.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

// Picoseconds in 64 bits end after 106 days.
class StepTooLong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Of the longest step that is simulated.
inline constexpr double kLongestStep_s = 10 * kSecondsPerDay;

// Throws StepTooLong, with the part that takes so long, where a step could take more than ten days, or all
// steps of a draw more than a hundred, if nothing in it ran beside anything. Speeds that change count by
// their mean, or, where they change once, not at all. What chance adds counts too (drawn_length.h).
void refuse_endless(const System& system, std::span<const SimulateOptions> draws);

}  // namespace podsim
