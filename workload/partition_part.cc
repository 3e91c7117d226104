// One part of the model, partitioned: its blocks of operations and collectives, and what it keeps in memory.
#include "workload/partition_part.h"

#include <algorithm>
#include <utility>

#include "workload/apply_precision.h"
#include "workload/autodiff.h"
#include "workload/block_builder.h"
#include "workload/complete_shardings.h"
#include "workload/kernels.h"

namespace podsim {
namespace {

// Adds to the collective of the same kind and axes, so that a part has one bucket of each.
void add_to_bucket(Block& block, const std::string& name, CollectiveKind kind, AxisSet axes, double bytes,
                   Purpose purpose) {
  if (axes == 0 || bytes == 0) return;
  for (ProgramOp& op : block) {
    auto& bucket = std::get<CollectiveOp>(op);
    if (bucket.kind == kind && bucket.axes == axes) {
      bucket.bytes += Bytes{bytes};
      return;
    }
  }
  block.push_back(CollectiveOp{name, kind, axes, Bytes{bytes}, purpose});
}

class PartBuilder {
 public:
  PartBuilder(const Job& job, const CostModel& cost, Graph& graph, const Backward& backward,
              const std::string& name, PartitionTrace* trace)
      : job_(job), graph_(graph), backward_(backward), name_(name), blocks_(job, cost, graph, name, trace) {}

  PartitionedPart run(Recompute recompute, bool owns_shared) {
    for (const Operation& op : graph_.operations) blocks_.run(op, "");
    result_.part.forward = blocks_.take();
    const std::vector<TensorId> saved = saved_activations(graph_, backward_);
    const std::vector<Operation> again = recomputed(recompute, saved);
    for (const Operation& op : again) blocks_.run(op, " recompute");
    blocks_.forget_activation_copies();
    for (const Operation& op : backward_.operations) blocks_.run(op, "");
    result_.part.backward = blocks_.take();
    finish_step(owns_shared);
    measure(saved, recompute);
    return std::move(result_);
  }

 private:
  const Tensor& tensor(TensorId id) const { return graph_.tensors[static_cast<std::size_t>(id)]; }
  double local(TensorId id) const { return local_elements(shape_of(tensor(id)), blocks_.layout(id)); }

  std::vector<Operation> recomputed(Recompute recompute, const std::vector<TensorId>& saved) const {
    if (recompute == Recompute::kFull) {
      return job_.stack.recompute_stops_early ? operations_for(graph_, saved, {graph_.input, graph_.context})
                                              : graph_.operations;
    }
    std::vector<Operation> again;
    // Fused kernels never store scores, so there is nothing to select.
    if (recompute == Recompute::kSelective && !fused_attention(job_.stack)) {
      for (const Operation& op : graph_.operations) {
        if (op.kind == OperationKind::kAttention) again.push_back(op);
      }
    }
    return again;
  }

  // Once per step: the sums of gradients that waited, the update, and the gather of updated shards.
  void finish_step(bool owns_shared) {
    Part& part = result_.part;
    for (std::size_t i = 0; i < backward_.gradient_of.size(); ++i) {
      const auto id = static_cast<TensorId>(i);
      const Tensor& parameter = graph_.tensors[i];
      if (!is_parameter(parameter)) continue;
      if (!parameter.shared) part.parameters += elements(parameter);
      if (parameter.shared && !owns_shared) continue;
      const Layout state = state_layout(job_, parameter);
      const Layout& gradient_layout = blocks_.layout(backward_.gradient_of[i]);
      const AxisSet extra = axis_set(state.sharded()) & ~axis_set(blocks_.layout(id).sharded());
      const AxisSet partial = axis_set(gradient_layout.unreduced);
      const double gradient =
          local_elements(shape_of(parameter), gradient_layout) * job_.stack.gradient_bytes;
      const double elements_here = local(id);
      part.local_parameters += elements_here;
      part.local_weights += elements_here * parameter.memory_bytes;
      part.local_state += local_elements(shape_of(parameter), state);
      part.local_gradients += gradient;
      const AxisSet scatter = partial & extra;
      add_to_bucket(part.gradient_reduce, name_ + " gradients", CollectiveKind::kReduceScatter, scatter,
                    gradient, Purpose::kGradient);
      add_to_bucket(part.gradient_reduce, name_ + " gradients", CollectiveKind::kAllReduce, partial & ~extra,
                    gradient / shard_count(job_.mesh, scatter), Purpose::kGradient);
      add_to_bucket(part.parameter_gather, name_ + " weights", CollectiveKind::kAllGather, extra,
                    elements_here * parameter.element_bytes, Purpose::kParameter);
    }
    if (part.local_state > 0) part.optimizer.push_back(optimizer_update(name_, part.local_state, job_.stack));
  }

  bool made_here(TensorId id) const {
    const auto makes = [&](const Operation& op) {
      return std::any_of(op.outputs.begin(), op.outputs.end(),
                         [&](const Operand& out) { return out.tensor == id; });
    };
    return std::any_of(graph_.operations.begin(), graph_.operations.end(), makes);
  }

  void measure(const std::vector<TensorId>& saved, Recompute recompute) {
    // Softmax output, dropout mask and dropout output of one score. Source: arXiv 2205.05198, equation 1.
    constexpr double kBytesPerScore = 5;
    constexpr double kLogitCopies = 3;  // in units of 16 bits: the logits, and once in fp32 for the softmax
    PartFootprint& footprint = result_.footprint;
    const auto bytes = [&](TensorId id) { return Bytes{local(id) * tensor(id).element_bytes}; };
    if (graph_.input >= 0) footprint.input = bytes(graph_.input);
    if (graph_.output >= 0) footprint.output = bytes(graph_.output);
    if (graph_.context >= 0) {
      footprint.output += bytes(graph_.context);
      if (made_here(graph_.context)) footprint.working += bytes(graph_.context);
    }
    for (TensorId id : saved) {
      if (id == graph_.context) continue;  // all pieces read the same copy
      const bool logits = tensor(id).dims.back().logical == "vocabulary";
      const Bytes kept{local(id) * kept_bytes(graph_, backward_, id)};
      (logits ? footprint.logits : footprint.working) += (logits ? kLogitCopies : 1) * kept;
    }
    footprint.stored = recompute == Recompute::kFull ? footprint.input : footprint.working;
    for (const ProgramOp& op : result_.part.forward) {
      const auto* compute = std::get_if<ComputeOp>(&op);
      if (compute && compute->op_class == OpClass::kAttention && !fused_attention(job_.stack)) {
        const Bytes scores{kBytesPerScore * compute->sequences * compute->heads * compute->query_length *
                           compute->key_length};
        footprint.working += scores;
        if (recompute == Recompute::kNone) footprint.stored += scores;
      }
      const auto* collective = std::get_if<CollectiveOp>(&op);
      if (collective && collective->purpose == Purpose::kParameter) footprint.gathered += collective->bytes;
    }
  }

  const Job& job_;
  Graph& graph_;
  const Backward& backward_;
  std::string name_;
  BlockBuilder blocks_;
  PartitionedPart result_;
};

}  // namespace

PartitionedPart partition_part(const Job& job, const CostModel& cost, Graph graph, const std::string& name,
                               Recompute recompute, bool owns_shared, PartitionTrace* trace) {
  apply_precision(job, graph);
  complete_shardings(job, graph, trace);
  const Backward backward = differentiate(graph, job.stack.gradient_bytes);
  return PartBuilder(job, cost, graph, backward, name, trace).run(recompute, owns_shared);
}

}  // namespace podsim
