// Axes per factor worth planning, the most promising first.
#pragma once

#include <vector>

#include "workload/op_planning/op_space.h"

namespace podsim {

struct FactorChoice {
  FactorPiles piles;
  PlanCost bound;  // no plan with these axes costs less
  int slices = 0;  // axes that operands have to be cut by, for nothing
};

// All ways of laying axes on factors that operands and results can be cut by, with at most `flops_limit` per
// device, sorted by bound. Up to kAnyOrder axes in every order; beyond that in the order of the mesh behind
// what a tensor has on the factor. Stops, with what it has, at kMaxChoices.
inline constexpr int kAnyOrder = 4;
inline constexpr std::size_t kMaxChoices = 5000;
std::vector<FactorChoice> factor_choices(const OpSpace& space, const CostModel& cost, double flops_limit);

}  // namespace podsim
