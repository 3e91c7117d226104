// How one operation of a graph is cut: which of its letters each mesh axis shards, and what that moves.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "workload/graph/graph.h"
#include "workload/op_planning/op_plan.h"
#include "workload/resharding/cost_model.h"
#include "workload/sharding/sharding.h"

namespace podsim {

struct Job;

// Axes on each letter 'a' to 'z'. INVARIANT: an axis lies on one letter at most.
class LetterAxes {
 public:
  const AxisList& operator[](char letter) const { return axes_[static_cast<std::size_t>(letter - 'a')]; }
  AxisList& operator[](char letter) { return axes_[static_cast<std::size_t>(letter - 'a')]; }

 private:
  std::array<AxisList, 26> axes_{};
};

// Layouts in which a tensor can be had: where it was left, and copies resharded for earlier operations.
using Available = std::vector<Layout>;

// What planning one operation needs to know of the program around it.
struct PlanContext {
  const Job& job;
  const CostModel& cost;
  const Graph& graph;
  const std::vector<Available>& available;  // [tensor]
  const std::vector<Layout>& ruled;         // [tensor] what its rules or its annotation say
  bool charges_sums = true;                 // OpResult::owes_sums of what may stay a partial sum

  const Tensor& tensor(TensorId id) const { return graph.tensors[static_cast<std::size_t>(id)]; }
};

using Cut = std::vector<AxisList>;  // axes per factor of an operation's rule

struct OperationPlan {
  LetterAxes letters;
  OpPlan moves;
  bool searched = false;    // some axis was not settled by the tensors' shardings
  bool for_others = false;  // cut as was said
};

// Whether it runs on the matrix units; any other operation is bound by memory.
bool multiplies(const Operation& op);

// Letters in order of first appearance over inputs and outputs: letter i is factor i of rule_of(op).
std::string letters_of(const Operation& op);

// Axes along which gathers and reductions of the tensor join those of a matrix (merge_vectors,
// workload/partition), so that they cost their bytes alone: of a vector those that it lies on, where a matrix
// of its role lies on all of them. Without a fabric bytes are all that anything costs.
AxisList shared_axes(const PlanContext& context, TensorId id);

// Size of a letter on one device, as `operand` has it.
double local_letter(const PlanContext& context, const Operand& operand, char letter,
                    const LetterAxes& letters);

// An axis on which two or more tensors of the operation agree, more than on any other letter, shards that
// letter: the user's shardings have said how this operation runs (tensor parallelism keeps weights, data
// parallelism keeps tokens). Every other axis, and under Partitioner::kSearch each, is searched: all letters
// and none, the cheapest in time. `alternatives` = how many of the other plans to tell, those included that
// the user's shardings rule out.
// What is returned may be shared with others who asked for the same.
std::shared_ptr<const OperationPlan> plan_operation(const PlanContext& context, const Operation& op,
                                                    int alternatives = 0);

// The same cut so, whatever it costs.
std::shared_ptr<const OperationPlan> plan_operation(const PlanContext& context, const Operation& op,
                                                    const Cut& cut, int alternatives = 0);

}  // namespace podsim
