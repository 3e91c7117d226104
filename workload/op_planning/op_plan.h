// How one operation is cut: an axis list per factor, and what moves before and after.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workload/graph/op_rule.h"
#include "workload/resharding/reshard_plan.h"

namespace podsim {

struct OpOperand {
  TensorShape shape;
  std::vector<Layout> available;  // where it was left, and copies resharded for earlier operations
  double repeats = 1;   // its collectives count this many times (a weight is gathered again in backward)
  bool hidden = false;  // its collectives run beside the computation (prefetched weights)
  AxisList shared_along = {};  // its gathers and reductions along these share messages (vectors a matrix's)
};

struct OpResult {
  TensorShape shape;
  std::optional<Layout> wanted;  // nothing = stays as the operation leaves it, partial sums included
  bool partial_allowed = false;  // sums over axes that `wanted` does not shard may wait (weight gradients)
  bool owes_sums = false;        // sums left open are charged: whoever reads the result has to reduce them
  AxisList shared_along = {};    // as of an operand
};

struct OpProblem {
  OpRule rule;
  std::vector<OpOperand> operands;
  std::vector<OpResult> results;
  AxisList carried = {};  // every operand is a partial sum over these, and so is the result (a linear sum)
  double flops_per_point = 2;               // x product of local factor sizes; 0 = bound by memory
  AxisSplit split = AxisSplit::kByFactors;  // of axes, on the way of its tensors
  // Axes whose factor is settled: the index of the factor, -1 = cuts none. The others are searched.
  std::vector<std::pair<AxisRef, int>> settled = {};
  // Steps on an operand between its resharding and the computation (halos), given the axes per factor;
  // nothing = this cut is impossible. Empty = none.
  std::function<std::optional<std::vector<PlanStep>>(
      std::size_t operand, const std::vector<AxisList>& factors, const Layout& layout)>
      prepare = {};
  int keep_alternatives = 0;  // how many plans that lost to return
};

struct Alternative {
  std::vector<AxisList> factors;
  PlanCost cost;
};

struct OpPlan {
  std::vector<AxisList> factors;                     // [factor]
  std::vector<std::vector<PlanStep>> operand_steps;  // [operand], from the cheapest available layout
  std::vector<Layout> started;                       // [operand] the available layout it was taken from
  std::vector<Layout> required;                      // [operand]
  std::vector<PlanStep> statistics;                  // all-reduces on the way
  std::vector<Layout> natural;                       // [result] as computed, partial sums included
  std::vector<std::vector<PlanStep>> result_steps;   // [result]
  std::vector<Layout> kept;                          // [result] in the end
  double flops = 0;                                  // of one device
  PlanCost cost;    // exposed collectives + max(computation, hidden collectives), and what is owed
  double owed = 0;  // of `cost`: what later operations pay at least for open sums
  std::vector<Alternative> alternatives;  // cheapest first
};

// Exact over all axis lists per factor (whole axes, or pieces at the boundaries that occur), no axis on two
// factors, need-replication factors whole. Deterministic. A plan without any collective ends the search.
OpPlan plan_op(const Mesh& mesh, const OpProblem& problem, const CostModel& cost);

// The axes per factor that a compiler would choose that counts elements (docs/guide/sharding.md): the
// yardstick of FLOPs where there is no fabric, and an alternative to show.
std::vector<AxisList> common_axes(const Mesh& mesh, const OpProblem& problem);

}  // namespace podsim
