// Collects the operations of one block while tensors are resharded on demand.
#include "workload/partition/block_builder.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/index.h"
#include "workload/job/job.h"
#include "workload/job/model.h"
#include "workload/job/stack.h"
#include "workload/partition/kernels.h"
#include "workload/partition/record_operation.h"

namespace podsim {
namespace {

constexpr int kAlternatives = 3;  // plans that lost, told for each operation

Purpose purpose_of(const Tensor& tensor) {
  switch (tensor.role) {
    case TensorRole::kParameter:
      return Purpose::kParameter;
    case TensorRole::kParameterGradient:
      return Purpose::kGradient;
    case TensorRole::kActivation:
    case TensorRole::kIndex:
      return Purpose::kActivation;
  }
  return Purpose::kActivation;
}

// Whether a collective is of the kind, over the axes and for the purpose of a vector's.
bool carries(const ProgramOp& matrix, CollectiveKind kind, const CollectiveOp& vector) {
  const auto* op = std::get_if<CollectiveOp>(&matrix);
  return op && op->kind == kind && op->axes == vector.axes && op->purpose == vector.purpose;
}

// The group that a permute concerns: whatever changes its place.
AxisSet permuted_axes(const Layout& before, const Layout& after) {
  AxisSet axes = axis_set(before.unreduced) ^ axis_set(after.unreduced);
  for (std::size_t i = 0; i < before.dims.size(); ++i) {
    if (before.dims[i] != after.dims[i]) axes |= axis_set(before.dims[i]) | axis_set(after.dims[i]);
  }
  return axes;
}

// Every token is in the slots of all its experts.
void take_to_experts(const Job& job, CollectiveOp& op) {
  op.of_experts = true;
  if (!job.stack.experts.once_per_domain) return;
  op.fanout = {static_cast<double>(job.model.experts->experts_per_token), job.model.experts->most_groups};
}

}  // namespace

BlockBuilder::BlockBuilder(const Job& job, const CostModel& cost, const Graph& graph, const std::string& part,
                           PartitionTrace* trace)
    : job_(job), cost_(cost), graph_(graph), part_(part), trace_(trace), copies_(job, graph) {}

void BlockBuilder::run(const Operation& op, const std::string& suffix, const Cut* cut) {
  const int told = trace_ ? kAlternatives : 0;
  const auto planned = cut ? plan_operation(context(), op, *cut, told) : plan_operation(context(), op, told);
  const OperationPlan& plan = *planned;
  searched_ = searched_ || plan.searched;
  seconds_ += plan.moves.cost.value - plan.moves.owed;
  if (trace_) trace_->operations.push_back(record_operation(context(), part_, op, suffix, plan));
  const Windowed windowed = windowed_moves(context(), op, plan);
  const std::size_t first = block_.size();
  append_inputs(op, plan.moves, windowed);
  append_rings(op, plan.moves, windowed);
  lower_operation(context(), op, plan.letters, suffix, block_);
  vector_.resize(block_.size(), false);
  append_statistics(op, plan.moves);
  append_outputs(op, plan.moves, windowed);
  copies_.note(op, plan.moves, windowed);
  if (!makes_weight_gradient(graph_, op)) return;
  for (std::size_t i = first; i < block_.size(); ++i) {
    if (auto* compute = std::get_if<ComputeOp>(&block_[i])) compute->weight_gradient = true;
    if (auto* collective = std::get_if<CollectiveOp>(&block_[i])) collective->weight_gradient = true;
  }
}

void BlockBuilder::run(HostCopy copy) {
  block_.push_back(std::move(copy));
  vector_.push_back(false);
}

void BlockBuilder::append_inputs(const Operation& op, const OpPlan& moves, const Windowed& windowed) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorId id = op.inputs[i].tensor;
    std::span<const PlanStep> steps = moves.operand_steps[i];
    if (windowed.inputs[i]) steps = steps.first(steps.size() - 1);
    append(id, moves.started[i], steps);
  }
}

void BlockBuilder::append_statistics(const Operation& op, const OpPlan& moves) {
  for (const PlanStep& step : moves.statistics) {
    for (int i = 0; i < step.count; ++i) {
      block_.push_back(CollectiveOp{op.name + " statistics", *collective_of(step.kind), axis_set(step.axes),
                                    collective_bytes(step), Purpose::kActivation});
      vector_.push_back(false);
    }
  }
}

// Rings stand before the computation, which they run beside.
void BlockBuilder::append_rings(const Operation& op, const OpPlan& moves, const Windowed& windowed) {
  const auto ring = [&](TensorId id, const PlanStep& step) {
    const Tensor& tensor = graph_.tensors[at(id)];
    block_.push_back(ring_of(tensor.name, step, purpose_of(tensor)));
    vector_.push_back(false);
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (windowed.inputs[i]) ring(op.inputs[i].tensor, moves.operand_steps[i].back());
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (windowed.outputs[i]) ring(op.outputs[i].tensor, moves.result_steps[i].front());
  }
}

void BlockBuilder::append_outputs(const Operation& op, const OpPlan& moves, const Windowed& windowed) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const TensorId id = op.outputs[i].tensor;
    const std::span<const PlanStep> steps = moves.result_steps[i];
    if (windowed.outputs[i]) {
      append(id, steps.front().after, steps.subspan(1));
    } else {
      append(id, moves.natural[i], steps);
    }
  }
}

void BlockBuilder::append(TensorId id, const Layout& before, std::span<const PlanStep> steps) {
  const Tensor& tensor = graph_.tensors[at(id)];
  const Layout* now = &before;
  for (const PlanStep& step : steps) {
    const auto kind = collective_of(step.kind);
    const AxisSet axes =
        step.kind == StepKind::kPermute ? permuted_axes(*now, step.after) : axis_set(step.axes);
    now = &step.after;
    for (int i = 0; kind && i < step.count; ++i) {
      CollectiveOp op{tensor.name, *kind, axes, collective_bytes(step), purpose_of(tensor)};
      if (*kind == CollectiveKind::kAllToAll && tensor.journey != Journey::kNone) take_to_experts(job_, op);
      block_.push_back(std::move(op));
      vector_.push_back(tensor.vector);
    }
  }
}

Block BlockBuilder::take() {
  copies_.end_block();
  merge_vectors();
  vector_.clear();
  add_buffer_copies();
  return std::exchange(block_, {});
}

// Whole weights and whole gradients pass through memory between the network and the matmuls.
void BlockBuilder::add_buffer_copies() {
  if (job_.stack.weight_passes == 0) return;
  Block result;
  for (ProgramOp& op : block_) {
    const auto* collective = std::get_if<CollectiveOp>(&op);
    ComputeOp copies;
    copies.op_class = OpClass::kMemoryBound;
    if (collective) {
      copies.name = collective->tensor + " buffers";
      copies.hbm = job_.stack.weight_passes * collective->bytes;
      copies.weight_gradient = collective->weight_gradient;
    }
    const bool gather = collective && collective->purpose == Purpose::kParameter;
    const bool reduction = collective && collective->purpose == Purpose::kGradient;
    if (reduction) result.push_back(copies);
    result.push_back(std::move(op));
    if (gather) result.push_back(copies);
  }
  block_ = std::move(result);
}

std::optional<std::size_t> BlockBuilder::partner_of(std::size_t vector, const std::vector<bool>& gone) const {
  const auto& own = std::get<CollectiveOp>(block_[vector]);
  const auto of_kind = [&](CollectiveKind kind) -> std::optional<std::size_t> {
    const auto matches = [&](std::size_t i) {
      return !gone[i] && !vector_[i] && carries(block_[i], kind, own);
    };
    for (std::size_t i = vector + 1; i < block_.size(); ++i) {
      if (matches(i)) return i;
    }
    for (std::size_t i = vector; i-- > 0;) {
      if (matches(i)) return i;
    }
    return std::nullopt;
  };
  const auto same = of_kind(own.kind);
  // Matrices of which everybody takes a slice are all-reduced where that is faster: so is what joins them.
  if (same || own.kind != CollectiveKind::kReduceScatter) return same;
  return of_kind(CollectiveKind::kAllReduce);
}

void BlockBuilder::merge_vectors() {
  std::vector<bool> gone(block_.size(), false);
  for (std::size_t i = 0; i < block_.size(); ++i) {
    if (!vector_[i]) continue;
    const auto matrix = partner_of(i, gone);
    if (!matrix) continue;
    const auto [first, last] = std::minmax(i, *matrix);
    auto& early = std::get<CollectiveOp>(block_[first]);
    auto& late = std::get<CollectiveOp>(block_[last]);
    const bool gathers = early.purpose == Purpose::kParameter;
    CollectiveOp& stays = gathers ? early : late;
    const auto& carrier = std::get<CollectiveOp>(block_[*matrix]);
    stays.tensor = carrier.tensor;
    stays.kind = carrier.kind;
    stays.bytes = early.bytes + late.bytes;
    // What was joined runs in the later of the two passes where it is a gradient, else in the earlier.
    stays.weight_gradient = early.purpose == Purpose::kGradient
                                ? early.weight_gradient || late.weight_gradient
                                : early.weight_gradient && late.weight_gradient;
    gone[gathers ? last : first] = true;
    vector_[first] = vector_[last] = false;
  }
  Block merged;
  for (std::size_t i = 0; i < block_.size(); ++i) {
    if (!gone[i]) merged.push_back(std::move(block_[i]));
  }
  block_ = std::move(merged);
}

}  // namespace podsim
