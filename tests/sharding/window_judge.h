// Whether halos bring every shard what its windows read, by plain enumeration.
#pragma once

#include <vector>

#include "tests/sharding/replay.h"
#include "workload/graph/op_rule.h"

namespace podsim::testing {

struct WindowVerdict {
  OpRule rule;  // by which operands and output must agree, given where each is cut
  Faults faults;
};

// Questions are JSON, as in a file of cases. `layouts` and `halos` of lhs and rhs, where the operation runs.
// A spatial dimension on which lhs and the taps of rhs are cut alike contracts shard by shard; else outputs
// are cut and lhs with them.
WindowVerdict judge_convolution(const std::string& question, const std::vector<Layout>& layouts,
                                const std::vector<std::vector<PlanStep>>& halos);

// Pad, slice, or pad and then slice; of the latter without geometry, a shift by one along dimension 0.
WindowVerdict judge_shift(const std::string& question, const std::string& op, const Layout& layout,
                          const std::vector<PlanStep>& halos);

}  // namespace podsim::testing
