// Collects the operations of one block while tensors are resharded on demand.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workload/op_planning/plan.h"
#include "workload/partition/partition_trace.h"
#include "workload/partition/program.h"
#include "workload/partition/tensor_copies.h"
#include "workload/partition/windows.h"

namespace podsim {

struct Job;

class BlockBuilder {
 public:
  // Parameters, indices and the input of the graph start in the layout of their rules or annotations. What is
  // decided about each operation of `part` goes to `trace`, where given.
  BlockBuilder(const Job& job, const CostModel& cost, const Graph& graph, const std::string& part,
               PartitionTrace* trace);

  // Plans one operation, cut as is said where it is, or else as is cheapest, and appends what reshards its
  // inputs, its kernels, and what reshards its outputs.
  void run(const Operation& op, const std::string& suffix, const Cut* cut);

  // Appends a copy to or from the host.
  void run(HostCopy copy);

  void forget_activation_copies() { copies_.forget_activations(); }

  // Ends the block, for copies too. A collective of vectors joins the next matrix's of the same kind, axes
  // and purpose, or the one before, and a reduce-scatter else an all-reduce: a gather stands before the first
  // of both users, a reduction after the last producer.
  Block take();

  // Whether the tensors' shardings left the cut of some operation open.
  bool searched() const { return searched_; }
  double seconds() const {
    return seconds_;
  }  // of all operations so far; bytes sent where there is no fabric

  // How a tensor was left by the operation that made it.
  const Layout& layout(TensorId tensor) const { return copies_.layout(tensor); }

  // Elements of the largest form in which the device still has it.
  double largest_copy(TensorId tensor) const { return copies_.largest(tensor); }

 private:
  PlanContext context() const { return {job_, cost_, graph_, copies_.available(), copies_.ruled()}; }
  void append_inputs(const Operation& op, const OpPlan& moves, const Windowed& windowed);
  void append_rings(const Operation& op, const OpPlan& moves, const Windowed& windowed);
  void append_statistics(const Operation& op, const OpPlan& moves);
  void append_outputs(const Operation& op, const OpPlan& moves, const Windowed& windowed);
  void append(TensorId tensor, const Layout& before, std::span<const PlanStep> steps);
  void merge_vectors();
  void add_buffer_copies();
  std::optional<std::size_t> partner_of(std::size_t vector, const std::vector<bool>& gone) const;

  const Job& job_;
  const CostModel& cost_;
  const Graph& graph_;
  std::string part_;
  PartitionTrace* trace_;  // or nothing
  TensorCopies copies_;
  bool searched_ = false;
  double seconds_ = 0;
  Block block_;
  std::vector<bool> vector_;  // [operation of the block] a collective that moves vectors only
};

}  // namespace podsim
