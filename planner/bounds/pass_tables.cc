// Times the passes on a mesh that has every group that they can have, and looks up the rest.
#include "planner/bounds/pass_tables.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "planner/bounds/stem_bounds.h"

namespace podsim {
namespace {

// All chips along the axes of the key, and the others along the pipeline, whose stages then lie wherever
// those of a mesh of the key can.
JobLayout widest(const Space& space, JobLayout stem) {
  const bool pipeline = stem.pipeline > 1;
  stem.pipeline = 1;
  stem.data = stem.group;
  stem.recompute_layers = 0;
  if (!cuts_weights(stem.sharding)) stem.sharding = StateSharding::kDdp;
  const int others = space.spec().cluster.fabric.chips / stem.chips();
  (pipeline ? stem.pipeline : stem.data) *= others;
  return canonical(stem);
}

// Behind the first layers of each chunk, which recompute, the parts that keep all.
void keep_later_layers(const ModelProgram& model, int recomputing, StageShape& shape) {
  const int parts = static_cast<int>(model.parts.size());
  for (std::vector<ChunkShape>& stage : shape.chunks)
    for (ChunkShape& chunk : stage) {
      int left = recomputing;
      std::vector<PartRun> runs;
      for (const PartRun& run : chunk.runs) {
        const bool layer = model.parts[static_cast<std::size_t>(run.part)].layer;
        const int first = layer ? std::min(run.count, left) : run.count;
        left -= layer ? first : 0;
        if (first > 0) runs.push_back({run.part, first});
        if (run.count > first) runs.push_back({parts + run.part, run.count - first});
      }
      chunk.runs = std::move(runs);
    }
}

}  // namespace

PassKey pass_key(const JobLayout& stem) {
  return {stem.tensor, stem.context,      stem.expert,     stem.expert_tensor,
          stem.group,  stem.pipeline > 1, stem.microbatch, stem.recompute};
}

bool has_pass_key(const Space& space, const JobLayout& stem) {
  const std::optional<GpuClusterSpec>& gpus = space.spec().cluster.fabric.gpu;
  if (!gpus || gpus->nvlink_mesh) return false;
  if (stem.recompute_layers > 0 && space.spec().job.recompute_every != 1) return false;
  return stem.sharding != StateSharding::kZero2 && (!cuts_weights(stem.sharding) || stem.pipeline == 1);
}

std::vector<std::vector<JobLayout>> stems_by_mesh(const std::vector<JobLayout>& stems) {
  std::map<std::tuple<int, int, int, int, int, bool>, std::vector<JobLayout>> of_mesh;
  for (const JobLayout& stem : stems)
    of_mesh[{stem.tensor, stem.context, stem.expert, stem.expert_tensor, stem.group, stem.pipeline > 1}]
        .push_back(stem);
  std::vector<std::vector<JobLayout>> meshes;
  for (auto& [mesh, members] : of_mesh) {
    std::ranges::stable_sort(members, {}, pass_key);
    meshes.push_back(std::move(members));
  }
  return meshes;
}

const PassesAlone& PassTables::passes_by(const JobLayout& stem, Recompute recompute) {
  JobLayout wide = widest(space_, stem);
  wide.recompute = recompute;
  const Spec spec = with_layout(space_.spec(), wide);
  if (!context_ || mesh_ != spec.job.mesh.axes) {
    context_.emplace(fabric_, spec);
    mesh_ = spec.job.mesh.axes;
    of_policy_.clear();
  }
  const auto [known, is_new] = of_policy_.try_emplace(pass_key(wide));
  if (is_new) known->second = passes_alone(spec, *context_);
  return known->second;
}

void PassTables::look_up(const JobLayout& stem) {
  const PassKey key = pass_key(stem);
  if (key_ == key) return;
  times_ = {};
  held_.clear();
  const Stack& stack = space_.even_job().stack;
  const double gradient_bytes =
      stack.gradient_memory_bytes > 0 ? stack.gradient_memory_bytes : stack.gradient_bytes;
  for (const Recompute recompute : {stem.recompute, Recompute::kNone}) {
    const PassesAlone& passes = passes_by(stem, recompute);
    times_.skew = passes.times.skew;
    times_.pieces.insert(times_.pieces.end(), passes.times.pieces.begin(), passes.times.pieces.end());
    for (const PartitionedPart& piece : passes.parts)
      held_.push_back({Bytes{piece.part.local_weights + gradient_bytes * piece.part.local_gradients},
                       stack.optimizer_state_bytes * Bytes{piece.part.local_state},
                       piece.footprint.stored() + piece.footprint.logits, piece.footprint.remade});
  }
  key_ = key;
}

const StageTimes& PassTables::times(const JobLayout& stem) {
  look_up(stem);
  return times_;
}

StageShape& PassTables::shape_of(const JobLayout& leaf) {
  const Job& job = space_.even_job();
  const auto [known, is_new] =
      shapes_.try_emplace({leaf.schedule, leaf.pipeline, leaf.chunks, leaf.recompute_layers});
  if (is_new) {
    known->second = stage_shape(job, space_.model(), leaf);
    if (leaf.recompute_layers > 0) keep_later_layers(space_.model(), leaf.recompute_layers, known->second);
  }
  known->second.pipeline.microbatches = microbatches_of(job, leaf);
  return known->second;
}

double PassTables::bound_s(const JobLayout& stem, const std::vector<JobLayout>& leaves) {
  const StageTimes& times = this->times(stem);
  double least = std::numeric_limits<double>::infinity();
  for (const JobLayout& leaf : leaves)
    least = std::min(least, stage_bound_s(space_.even_job().stack, times, shape_of(leaf)));
  return least;
}

// Passes of the first stage that are held at once, where what they leave for weight gradients counts as
// nothing.
double PassTables::passes_held(const PipelineShape& pipeline) {
  const auto [known, is_new] =
      most_passes_.try_emplace({pipeline.schedule, pipeline.stages, pipeline.chunks, pipeline.microbatches});
  if (is_new) {
    const std::vector<double> each(static_cast<std::size_t>(pipeline.chunks), 1),
        nothing(static_cast<std::size_t>(pipeline.chunks), 0);
    known->second = most_held(pipeline_order(pipeline, 0), each, nothing);
  }
  return known->second;
}

StemPasses passes_of(PassTables& tables, const JobLayout& stem, const std::vector<JobLayout>& leaves,
                     Bytes room) {
  StemPasses passes;
  passes.memory = Bytes{std::numeric_limits<double>::infinity()};
  for (const JobLayout& leaf : leaves) {
    const Bytes memory = tables.memory(stem, leaf);
    passes.memory = std::min(passes.memory, memory);
    if (memory <= room) passes.might_fit.push_back(leaf);
  }
  if (!passes.might_fit.empty()) passes.bound = rounded_down(tables.bound_s(stem, passes.might_fit));
  return passes;
}

Bytes PassTables::memory(const JobLayout& stem, const JobLayout& leaf) {
  look_up(stem);
  const StageShape& shape = shape_of(leaf);
  const Job& job = space_.even_job();
  Bytes kept, state, remade, least{std::numeric_limits<double>::infinity()};
  for (const ChunkShape& chunk : shape.chunks.front()) {
    Bytes passes;
    for (const PartRun& run : chunk.runs) {
      const Held& held = held_[static_cast<std::size_t>(run.part)];
      kept += run.count * held.weights;
      state += run.count * held.state;
      passes += run.count * held.passes;
      remade = std::max(remade, held.remade);
    }
    least = std::min(least, passes);
  }
  // The table's data ranks have whole states; those of ZeRO-1 cut theirs.
  if (stem.sharding == StateSharding::kZero1) state = state / (stem.batch_ranks() * stem.context);
  if (job.offload_optimizer) state = {};
  constexpr double kRounding = 1e-9;  // sums in another order
  return (1 - kRounding) * (1 + job.stack.fragmentation) *
         (kept + state + passes_held(shape.pipeline) * least + remade + job.stack.workspace);
}

}  // namespace podsim
