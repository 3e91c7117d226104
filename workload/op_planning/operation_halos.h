// The halos of an operation with windows: what each device needs of its neighbours' shards before it
// computes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "workload/graph/op_rule.h"
#include "workload/op_planning/halo_steps.h"

namespace podsim {

// OpProblem::prepare of an operation: the exchanges of each operand's windows where their factor is cut,
// nothing where a window reaches further than halos go; empty for a rule without windows. `shapes` = of the
// operands.
std::function<std::optional<std::vector<PlanStep>>(std::size_t operand, const std::vector<AxisList>& factors,
                                                   const Layout& layout)>
halo_exchanges(const OpRule& rule, std::vector<TensorShape> shapes);

}  // namespace podsim
