// Times the passes on a mesh that has every group that they can have, and looks up the rest.
#include "planner/bounds/pass_tables.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "planner/bounds/stem_bounds.h"

namespace podsim {
namespace {

// All chips along the axes of a pass, and the others along the pipeline, whose stages then lie wherever those
// of the stem can.
JobLayout widest(const Space& space, JobLayout stem) {
  const bool pipeline = stem.pipeline > 1 || !cuts_weights(stem.sharding);
  stem.pipeline = 1;
  stem.data = stem.group;
  if (!cuts_weights(stem.sharding)) stem.sharding = StateSharding::kDdp;
  const int others = space.spec().cluster.fabric.chips / stem.chips();
  (pipeline ? stem.pipeline : stem.data) *= others;
  return canonical(stem);
}

// What lies outside passes differs among layouts that share them.
void leave_passes(StageTimes& times) {
  for (PieceSeconds& piece : times.pieces) {
    piece.optimizer = piece.reduce = 0;
    piece.reduce_links = {};
    for (PieceSeconds::OfPass& pass : piece.of_pass) {
      pass.gathers = pass.gradients = 0;
      pass.weights = {};
    }
  }
}

}  // namespace

bool shares_passes(const Space& space, const JobLayout& stem) {
  const std::optional<GpuClusterSpec>& gpus = space.spec().cluster.fabric.gpu;
  if (!gpus || gpus->nvlink_mesh) return false;
  return stem.sharding != StateSharding::kZero2 && (!cuts_weights(stem.sharding) || stem.pipeline == 1);
}

JobLayout timed_layout(const Space& space, const JobLayout& stem) {
  JobLayout timed = stem;
  timed.recompute_layers = 0;
  return shares_passes(space, stem) ? widest(space, timed) : timed;
}

std::vector<std::vector<JobLayout>> stems_by_mesh(
    const std::vector<JobLayout>& stems, const std::function<JobLayout(const JobLayout&)>& timed_of) {
  std::map<std::tuple<int, int, int, int, int, int, int>, std::map<JobLayout, std::vector<JobLayout>>>
      of_mesh;
  for (const JobLayout& stem : stems) {
    const JobLayout timed = timed_of(stem);
    of_mesh[{timed.tensor, timed.context, timed.expert, timed.expert_tensor, timed.group, timed.pipeline,
             timed.data}][timed]
        .push_back(stem);
  }
  std::vector<std::vector<JobLayout>> meshes;
  for (const auto& [mesh, of_layout] : of_mesh) {
    std::vector<JobLayout>& all = meshes.emplace_back();
    for (const auto& [timed, members] : of_layout) all.insert(all.end(), members.begin(), members.end());
  }
  return meshes;
}

void PassTables::look_up(const JobLayout& stem) {
  const JobLayout timed = timed_layout(space_, stem);
  if (timed_ == timed) return;
  Spec spec = with_layout(space_.spec(), timed);
  // The operations remain, since others wait where they stand.
  if (sums_are_free_) spec.job.stack.gradient_add_bytes = std::min(spec.job.stack.gradient_add_bytes, 1e-9);
  const bool shared = shares_passes(space_, stem);
  const StemBounds pieces(spec, contexts_.of(spec), {.keeping_too = true, .passes_alone = shared});
  times_ = pieces.times();
  if (shared) leave_passes(times_);
  held_.clear();
  const Stack& stack = spec.job.stack;
  const double gradient_bytes =
      stack.gradient_memory_bytes > 0 ? stack.gradient_memory_bytes : stack.gradient_bytes;
  for (const PartitionedPart& piece : pieces.parts()) {
    const Part& part = piece.where(true);
    held_.push_back({Bytes{part.local_weights + gradient_bytes * part.local_gradients},
                     stack.optimizer_state_bytes * Bytes{part.local_state},
                     piece.footprint.stored() + piece.footprint.logits, piece.footprint.remade});
  }
  timed_ = timed;
}

const StageTimes& PassTables::times(const JobLayout& stem) {
  look_up(stem);
  return times_;
}

StageShape& PassTables::shape_of(const JobLayout& leaf) {
  const Job& job = space_.even_job();
  const auto [known, is_new] =
      shapes_.try_emplace({leaf.schedule, leaf.pipeline, leaf.chunks, leaf.recompute_layers});
  if (is_new) known->second = stage_shape(job, space_.model(), leaf);
  known->second.pipeline.microbatches = microbatches_of(job, leaf);
  return known->second;
}

double PassTables::bound_s(const JobLayout& stem, const std::vector<JobLayout>& leaves) {
  return bound_s(times(stem), leaves);
}

double PassTables::bound_s(const StageTimes& times, const std::vector<JobLayout>& leaves) {
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
  // Data ranks of a shared layout have whole states; those of ZeRO-1 cut theirs.
  if (stem.sharding == StateSharding::kZero1 && timed_->sharding != stem.sharding)
    state = state / (stem.batch_ranks() * stem.context);
  if (job.offload_optimizer) state = {};
  constexpr double kRounding = 1e-9;  // sums in another order
  return (1 - kRounding) * (1 + job.stack.fragmentation) *
         (kept + state + passes_held(shape.pipeline) * least + remade + job.stack.workspace);
}

}  // namespace podsim
