// How one operation is cut: which of its letters each mesh axis shards.
#pragma once

#include <array>
#include <vector>

#include "workload/graph.h"
#include "workload/program.h"
#include "workload/reshard.h"
#include "workload/sharding.h"

namespace podsim {

// Axes on each letter 'a' to 'z'. INVARIANT: an axis lies on one letter at most.
class LetterAxes {
 public:
  AxisSet operator[](char letter) const { return axes_[static_cast<std::size_t>(letter - 'a')]; }
  AxisSet& operator[](char letter) { return axes_[static_cast<std::size_t>(letter - 'a')]; }

 private:
  std::array<AxisSet, 26> axes_{};
};

// Shardings in which a tensor can be had: where it was left, and copies resharded for earlier operations.
using Available = std::vector<Sharding>;

// What planning one operation needs to know of the program around it.
struct PlanContext {
  const Job& job;
  const PartitionCosts& costs;
  const std::vector<Tensor>& tensors;
  const std::vector<Available>& available;  // [tensor]
};

// Axes over which every input of a sum is partial; they pass through.
AxisSet carried_axes(const PlanContext& context, const Operation& op);

// The sharding that the plan asks of an input, the one in which it leaves an output, and the one in which the
// output is kept.
Sharding required_sharding(const Operand& input, const LetterAxes& plan, AxisSet carried);
Sharding natural_sharding(const Operation& op, const Operand& output, const LetterAxes& plan,
                          AxisSet carried);
Sharding kept_sharding(const PlanContext& context, const Operand& output, const Sharding& natural);

// The cheapest way to have a tensor in sharding `to`.
std::vector<ReshardStep> cheapest_reshard(const PlanContext& context, TensorId tensor, const Sharding& to);

// All-reduces of values reduced on the way (norm and softmax statistics).
std::vector<ReshardStep> statistics_steps(const PlanContext& context, const Operation& op,
                                          const LetterAxes& plan);

// Size of a letter on one device, as `operand` has it.
double local_letter(const PlanContext& context, const Operand& operand, char letter, const LetterAxes& plan);

// An axis on which two or more tensors of the operation agree, more than on any other letter, shards that
// letter: the rules have said how this operation runs (tensor parallelism keeps weights, data parallelism
// keeps tokens). Where they do not agree, all letters that a tensor has on the axis, and none, are tried in
// every combination and the cheapest is taken: its FLOPs at `flop_rate` plus its collectives, where gathering
// a weight counts three times (again in backward, and its gradient's scatter).
LetterAxes plan_operation(const PlanContext& context, const Operation& op);

}  // namespace podsim
