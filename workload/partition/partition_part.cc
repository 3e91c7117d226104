// One part of the model, partitioned: its blocks of operations and collectives, and what it keeps in memory.
#include "workload/partition/partition_part.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/contains.h"
#include "workload/job/job.h"
#include "workload/job/stack.h"
#include "workload/model/apply_precision.h"
#include "workload/model/autodiff.h"
#include "workload/partition/block_builder.h"
#include "workload/partition/kernels.h"
#include "workload/partition/part_cuts.h"
#include "workload/pipeline/pipeline.h"
#include "workload/sharding/complete_shardings.h"

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

// Host time to launch the operations of a forward pass over that of an ordinary dense layer: two norms,
// attention between its projections and the turning of heads, an activation between two matmuls, two sums.
// What launches of experts take is told by the stack (ExpertExecution::kernels); beside them stays the
// router, and they take the place of two operations.
double launches_of(const Block& forward) {
  constexpr double kOrdinaryLayer = 11, kReplacedByExperts = 2;
  double launches = 0;
  bool experts = false;
  for (const ProgramOp& op : forward) {
    const auto* work = std::get_if<ComputeOp>(&op);
    if (!work) continue;
    experts = experts || work->of_experts;
    launches += work->of_experts ? 0 : work->launches;
  }
  return (launches + (experts ? kReplacedByExperts : 0)) / kOrdinaryLayer;
}

class PartBuilder {
 public:
  // `cuts` of operations in the order in which they run; empty = the cheapest of each.
  PartBuilder(const Job& job, const CostModel& cost, Graph& graph, const Backward& backward,
              const ModelPart& piece, std::vector<Cut> cuts, PartitionTrace* trace)
      : job_(job),
        graph_(graph),
        backward_(backward),
        name_(piece.name),
        blocks_(job, cost, graph, name_, trace),
        cuts_(std::move(cuts)) {
    result_.part.name = name_;
    result_.part.layer = piece.layer;
    result_.part.loss = std::ranges::any_of(
        graph.operations, [](const Operation& op) { return op.kind == OperationKind::kLoss; });
  }

  PartitionedPart run(const Retention& retention) {
    waiting_ = retention.offloaded;
    if (on_host(graph_.input)) blocks_.run(copy(graph_.input, true));
    for (const Operation& op : graph_.operations) {
      run(op, "");
      for (const Operand& output : op.outputs)
        if (on_host(output.tensor)) blocks_.run(copy(output.tensor, true));
    }
    result_.part.forward = blocks_.take();
    result_.part.launches = launches_of(result_.part.forward);
    for (const Operation& op : retention.again) run_backward(op, " recompute");
    blocks_.forget_activation_copies();
    for (const Operation& op : backward_.operations) run_backward(op, "");
    result_.part.backward = blocks_.take();
    result_.footprint = footprint_of({job_, graph_, backward_, blocks_, retention}, result_.part.forward);
    result_.part.output = result_.footprint.output;
    if (graph_.output >= 0) result_.part.output_copies = copies(graph_.output);
    result_.part.kept = result_.footprint.kept;
    if (std::ranges::any_of(graph_.tensors, &Tensor::shared)) {
      result_.beside_owner = result_.part;
      finish_step(false, *result_.beside_owner);
    }
    finish_step(true, result_.part);
    return std::move(result_);
  }

  const BlockBuilder& blocks() const { return blocks_; }

 private:
  void run(const Operation& op, const std::string& suffix) {
    blocks_.run(op, suffix, cuts_.empty() ? nullptr : &cuts_[runs_]);
    ++runs_;
  }

  const Tensor& tensor(TensorId id) const { return graph_.tensors[static_cast<std::size_t>(id)]; }
  double local(TensorId id) const { return local_elements(shape_of(tensor(id)), blocks_.layout(id)); }

  bool on_host(TensorId id) const { return contains(waiting_, id); }
  HostCopy copy(TensorId id, bool to_host) const {
    return {tensor(id).name, Bytes{local(id) * tensor(id).element_bytes}, to_host};
  }

  // What waits on the host is fetched for the first operation that reads it.
  void run_backward(const Operation& op, const std::string& suffix) {
    for (const Operand& input : op.inputs) {
      if (!on_host(input.tensor)) continue;
      blocks_.run(copy(input.tensor, false));
      std::erase(waiting_, input.tensor);
    }
    run(op, suffix);
  }

  // What weights take: sums of gradients over microbatches, and once per step the sums that waited, the
  // update, and the gather of updated shards.
  void finish_step(bool owns_shared, Part& part) const {
    Bytes casts;
    for (std::size_t i = 0; i < backward_.gradient_of.size(); ++i) {
      const auto id = static_cast<TensorId>(i);
      const Tensor& parameter = graph_.tensors[i];
      if (!is_parameter(parameter)) continue;
      if (!parameter.shared) part.parameters += elements(parameter);
      if (parameter.shared && !owns_shared) continue;
      const double elements_here = local(id);
      part.local_parameters += elements_here;
      part.local_weights += elements_here * parameter.memory_bytes;
      if (parameter.frozen) continue;
      const Layout state = state_layout(job_, parameter);
      const Layout& gradient_layout = blocks_.layout(backward_.gradient_of[i]);
      const AxisSet extra = axis_set(state.sharded()) & ~axis_set(blocks_.layout(id).sharded());
      const AxisSet partial = axis_set(gradient_layout.unreduced);
      const double gradient_elements = local_elements(shape_of(parameter), gradient_layout);
      const double gradient = gradient_elements * job_.stack.gradient_bytes;
      ++part.weights;
      casts += Bytes{elements_here * parameter.cast_bytes};
      part.local_state += local_elements(shape_of(parameter), state);
      part.local_gradients += gradient_elements;
      const AxisSet scatter = partial & extra;
      add_to_bucket(part.gradient_reduce, name_ + " gradients", CollectiveKind::kReduceScatter, scatter,
                    gradient, Purpose::kGradient);
      add_to_bucket(part.gradient_reduce, name_ + " gradients", CollectiveKind::kAllReduce, partial & ~extra,
                    gradient / shard_count(job_.mesh, scatter), Purpose::kGradient);
      gather_updated(parameter.name, extra, Bytes{elements_here * parameter.element_bytes}, part);
    }
    if (job_.stack.gradient_add_bytes > 0 && part.local_gradients > 0)
      part.backward.push_back(gradient_addition(name_, part.local_gradients, job_.stack));
    if (part.local_state == 0) return;
    const HostCopy state{name_ + " state", Bytes{job_.stack.optimizer_state_bytes * part.local_state}};
    if (job_.offload_optimizer) part.optimizer.push_back(HostCopy{state.tensor, state.bytes, false});
    part.optimizer.push_back(optimizer_update(name_, part.local_state, part.local_gradients, job_.stack));
    if (job_.offload_optimizer) part.optimizer.push_back(state);
    if (casts > Bytes{}) part.optimizer.push_back(weight_casts(name_, casts));
  }

  // Every shard to all, weights joined; or each weight from the device that owns it.
  void gather_updated(const std::string& weight, AxisSet axes, Bytes bytes, Part& part) const {
    if (!job_.stack.gathers_by_owner) {
      add_to_bucket(part.parameter_gather, name_ + " weights", CollectiveKind::kAllGather, axes, bytes.value,
                    Purpose::kParameter);
    } else if (axes != 0 && bytes > Bytes{}) {
      part.parameter_gather.push_back(
          CollectiveOp{weight, CollectiveKind::kBroadcast, axes, bytes, Purpose::kParameter});
    }
  }

  // Axes along which all devices of a stage have the same of a tensor.
  AxisSet copies(TensorId id) const {
    AxisSet axes = 0;
    for (std::size_t i = 0; i < job_.mesh.axes.size(); ++i) {
      const bool stages = job_.mesh.axes[i].name == job_.pipeline_axis;
      if (!stages && job_.mesh.axes[i].size > 1) axes |= axis_bit(static_cast<int>(i));
    }
    return axes & ~axis_set(blocks_.layout(id).sharded());
  }

  const Job& job_;
  Graph& graph_;
  const Backward& backward_;
  std::string name_;
  BlockBuilder blocks_;
  const std::vector<Cut> cuts_;
  std::size_t runs_ = 0;           // operations so far
  std::vector<TensorId> waiting_;  // on the host, until backward fetches them
  PartitionedPart result_;
};

PartOperations operations_of(const Graph& graph, const Backward& backward, const Retention& retention) {
  PartOperations operations;
  for (const auto* of : {&graph.operations, &retention.again, &backward.operations})
    for (const Operation& op : *of) operations.all.push_back(&op);
  operations.forward = graph.operations.size();
  operations.recomputed = retention.again.size();
  return operations;
}

}  // namespace

PartitionedPart partition_part(const Job& job, const CostModel& cost, const ModelPart& piece,
                               PartitionTrace* trace) {
  Graph graph = piece.graph;
  apply_precision(job, graph);
  complete_shardings(job, graph, trace ? &trace->conflicts : nullptr);
  const Backward backward = differentiate(graph, job.stack.gradient_bytes);
  const Retention retention = retain(job, graph, backward, piece.recomputes);
  PartBuilder cheapest(job, cost, graph, backward, piece, {}, nullptr);
  PartitionedPart part = cheapest.run(retention);
  std::vector<Cut> cuts;
  if (job.partitioner == Partitioner::kSearch && cheapest.blocks().searched() && cost.timed())
    cuts =
        better_cuts(job, cost, graph, operations_of(graph, backward, retention), cheapest.blocks().seconds());
  if (cuts.empty() && !trace) return part;
  return PartBuilder(job, cost, graph, backward, piece, std::move(cuts), trace).run(retention);
}

std::vector<bool> beside_owners(const std::vector<std::vector<ChunkShape>>& chunks,
                                const PipelineShape& pipeline, std::size_t parts) {
  std::vector<bool> beside(parts, true);
  for (int stage = 0; stage < pipeline.stages; ++stage) {
    bool first = false, last = false;
    for (int chunk = 0; chunk < pipeline.chunks; ++chunk) {
      const int piece = piece_at(pipeline, {stage, chunk});
      first = first || piece == 0;
      last = last || piece + 1 == piece_count(pipeline);
    }
    if (first && last) continue;
    for (const ChunkShape& chunk : chunks[static_cast<std::size_t>(stage)])
      for (const PartRun& run : chunk.runs) beside[static_cast<std::size_t>(run.part)] = false;
  }
  return beside;
}

}  // namespace podsim
