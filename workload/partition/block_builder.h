// Collects the operations of one block while tensors are resharded on demand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/op_planning/plan.h"
#include "workload/partition/partition_trace.h"
#include "workload/partition/program.h"
#include "workload/partition/windows.h"

namespace podsim {

struct Job;

class BlockBuilder {
 public:
  // Parameters, indices and the input of the graph start in the layout of their rules or annotations. What is
  // decided about each operation of `part` goes to `trace`, where given.
  BlockBuilder(const Job& job, const CostModel& cost, const Graph& graph, const std::string& part,
               PartitionTrace* trace);

  // Plans one operation and appends what reshards its inputs, its kernels, and what reshards its outputs.
  void run(const Operation& op, const std::string& suffix);

  // Appends a copy to or from the host.
  void run(HostCopy copy);

  // Copies of activations that are larger than the tensor itself are given up (gathered ones) where the stack
  // does not keep them; those of weights stay until the block ends.
  void forget_activation_copies();

  // Ends the block: these copies and those of weights are given up. A collective of vectors joins the next
  // matrix's of the same kind, axes and purpose, or the one before: a gather stands before the first of both
  // users, a reduction after the last producer.
  Block take();

  // How a tensor was left by the operation that made it.
  const Layout& layout(TensorId tensor) const { return available_[static_cast<std::size_t>(tensor)].front(); }

  // Elements of the largest form in which the device still has it.
  double largest_copy(TensorId tensor) const;

 private:
  PlanContext context() const { return {job_, cost_, graph_, available_}; }
  void append_inputs(const Operation& op, const OpPlan& moves, const Windowed& windowed);
  void append_rings(const Operation& op, const OpPlan& moves, const Windowed& windowed);
  void append_statistics(const Operation& op, const OpPlan& moves);
  void append_outputs(const Operation& op, const OpPlan& moves, const Windowed& windowed);
  void append(TensorId tensor, const Layout& before, const std::vector<PlanStep>& steps);
  void merge_vectors();
  void add_buffer_copies();
  std::optional<std::size_t> partner_of(std::size_t vector, const std::vector<bool>& gone) const;

  const Job& job_;
  const CostModel& cost_;
  const Graph& graph_;
  std::string part_;
  PartitionTrace* trace_;             // or nothing
  std::vector<Available> available_;  // [tensor]
  Block block_;
  std::vector<bool> vector_;  // [operation of the block] a collective that moves vectors only
};

}  // namespace podsim
