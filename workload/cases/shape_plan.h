// Plans of operations that are more than a contraction: windows, joins, lookups, statistics.
#pragma once

#include "workload/cases/case_plan.h"
#include "workload/cases/shard_case.h"
#include "workload/op_planning/op_plan.h"

namespace podsim {

// The steps of an operation, its operands by these names, its one result "output".
CasePlan named_plan(const OpPlan& plan, const std::vector<std::string>& operands);

// The computation as a step: the output as it leaves it.
PlanStep compute_step(const Layout& natural);

// Along each spatial dimension either outputs are cut, and lhs receives a halo, or taps are (the gradient of
// a filter: lhs is cut with them), and the operand whose halo is smaller receives it.
CasePlan plan_convolution(const Mesh& mesh, const ConvolutionQuestion& question, const CostModel& cost);

// Pad, slice, shift: cut along a changed dimension, data moves as far as shard boundaries do.
CasePlan plan_shift(const Mesh& mesh, const ShiftQuestion& question, const CostModel& cost);

// Reshapes, transposes and reductions.
CasePlan plan_rearranged(const Mesh& mesh, const RearrangeQuestion& question, const CostModel& cost);
CasePlan plan_concatenate(const Mesh& mesh, const ConcatenateQuestion& question, const CostModel& cost);

// The table is read where it lies, cut further, or gathered; it is not dealt out anew over its dimensions,
// which would cost every step a second copy of it. Cut rows give partial sums.
CasePlan plan_embedding(const Mesh& mesh, const EmbeddingQuestion& question, const CostModel& cost);

// A cut dimension takes two all-reduces of what is left of a row: its maximum and its sum.
CasePlan plan_softmax(const Mesh& mesh, const SoftmaxQuestion& question, const CostModel& cost);

}  // namespace podsim
