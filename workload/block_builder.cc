// Collects the operations of one block while tensors are resharded on demand.
#include "workload/block_builder.h"

#include <algorithm>
#include <utility>

#include "workload/kernels.h"

namespace podsim {
namespace {

std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }

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

bool alike(const ProgramOp& a, const ProgramOp& b) {
  const auto* x = std::get_if<CollectiveOp>(&a);
  const auto* y = std::get_if<CollectiveOp>(&b);
  return x && y && x->kind == y->kind && x->axes == y->axes && x->purpose == y->purpose;
}

}  // namespace

BlockBuilder::BlockBuilder(const Job& job, const PartitionCosts& costs, const Graph& graph)
    : job_(job), costs_(costs), graph_(graph), available_(graph.tensors.size()) {
  for (std::size_t id = 0; id < graph.tensors.size(); ++id)
    available_[id] = {ruled_sharding(job, graph.tensors[id])};
}

void BlockBuilder::run(const Operation& op, const std::string& suffix) {
  const LetterAxes plan = plan_operation(context(), op);
  const AxisSet carried = carried_axes(context(), op);
  reshard_inputs(op, plan);
  lower_operation(context(), op, plan, suffix, block_);
  for (const ReshardStep& step : statistics_steps(context(), op, plan)) {
    block_.push_back(
        CollectiveOp{op.name + " statistics", step.kind, step.axes, step.bytes, Purpose::kActivation});
  }
  vector_.resize(block_.size(), false);
  keep_outputs(op, plan, carried);
}

void BlockBuilder::reshard_inputs(const Operation& op, const LetterAxes& plan) {
  const AxisSet carried = carried_axes(context(), op);
  for (const Operand& input : op.inputs) {
    const Sharding required = required_sharding(input, plan, carried);
    append(input.tensor, cheapest_reshard(context(), input.tensor, required));
    Available& copies = available_[at(input.tensor)];
    if (std::find(copies.begin(), copies.end(), required) == copies.end()) copies.push_back(required);
  }
}

void BlockBuilder::keep_outputs(const Operation& op, const LetterAxes& plan, AxisSet carried) {
  for (const Operand& output : op.outputs) {
    const Sharding natural = natural_sharding(op, output, plan, carried);
    const Sharding kept = kept_sharding(context(), output, natural);
    append(output.tensor, reshard(job_.mesh, graph_.tensors[at(output.tensor)], natural, kept));
    available_[at(output.tensor)] = {kept};
  }
}

void BlockBuilder::append(TensorId id, const std::vector<ReshardStep>& steps) {
  const Tensor& tensor = graph_.tensors[at(id)];
  for (const ReshardStep& step : steps) {
    block_.push_back(CollectiveOp{tensor.name, step.kind, step.axes, step.bytes, purpose_of(tensor)});
    vector_.push_back(tensor.vector);
  }
}

void BlockBuilder::forget_activation_copies() {
  for (std::size_t id = 0; id < available_.size(); ++id) {
    if (!is_parameter(graph_.tensors[id])) available_[id].resize(1);
  }
}

Block BlockBuilder::take() {
  for (Available& copies : available_) copies.resize(1);
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
  const auto matches = [&](std::size_t i) {
    return !gone[i] && !vector_[i] && alike(block_[vector], block_[i]);
  };
  for (std::size_t i = vector + 1; i < block_.size(); ++i) {
    if (matches(i)) return i;
  }
  for (std::size_t i = vector; i-- > 0;) {
    if (matches(i)) return i;
  }
  return std::nullopt;
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
    stays.tensor = std::get<CollectiveOp>(block_[*matrix]).tensor;
    stays.bytes = early.bytes + late.bytes;
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
