// Sequences of a step that a plan tries on a number of chips.
#pragma once

#include <vector>

#include "planner/plan/plan.h"

namespace podsim {

// Ascending; 0 = those of the scenario. Each of the tokens that are wanted is taken to the nearest number of
// sequences, between the least and the most that are wanted, that the most data ranks divide.
std::vector<int> batches_on(const PlanScenario& scenario, int sequence_tokens, int chips);

}  // namespace podsim
