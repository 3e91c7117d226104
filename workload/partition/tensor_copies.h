// Layouts in which tensors are at hand while the operations of a part run one after another.
#pragma once

#include <vector>

#include "workload/op_planning/plan.h"
#include "workload/partition/windows.h"

namespace podsim {

struct Job;

class TensorCopies {
 public:
  // Parameters, indices and the input of the graph start in the layout of their rules or annotations.
  // REQUIRES: job and graph outlive this.
  TensorCopies(const Job& job, const Graph& graph);

  // What an operation leaves: its results, and the layouts to which it resharded its inputs.
  void note(const Operation& op, const OpPlan& moves, const Windowed& windowed);

  // Copies of activations that are larger than the tensor itself are given up (gathered ones) where the stack
  // does not keep them; those of weights stay until the block ends.
  void forget_activations();

  // These copies and those of weights are given up.
  void end_block();

  // [tensor] where rules or annotations put it.
  const std::vector<Layout>& ruled() const { return ruled_; }
  const std::vector<Available>& available() const { return available_; }  // [tensor]

  // How a tensor was left by the operation that made it.
  const Layout& layout(TensorId tensor) const { return available_[static_cast<std::size_t>(tensor)].front(); }

  // Elements of the largest form in which the device still has it.
  double largest(TensorId tensor) const;

 private:
  const Job* job_;
  const Graph* graph_;
  std::vector<Layout> ruled_;
  std::vector<Available> available_;
};

}  // namespace podsim
