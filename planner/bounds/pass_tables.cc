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
  stem.pipeline = stem.data = stem.group = 1;
  stem.sharding = StateSharding::kDdp;
  const int others = space.spec().cluster.fabric.chips / stem.chips();
  (pipeline ? stem.pipeline : stem.data) = others;
  return stem;
}

}  // namespace

PassKey pass_key(const JobLayout& stem) {
  return {stem.tensor,       stem.context,    stem.expert,   stem.expert_tensor,
          stem.pipeline > 1, stem.microbatch, stem.recompute};
}

bool has_pass_key(const Space& space, const JobLayout& stem) {
  return space.spec().cluster.fabric.gpu.has_value() && stem.recompute_layers == 0 &&
         (stem.sharding == StateSharding::kDdp || stem.sharding == StateSharding::kZero1);
}

std::vector<std::vector<JobLayout>> stems_by_mesh(const std::vector<JobLayout>& stems) {
  std::map<std::tuple<int, int, int, int, bool>, std::vector<JobLayout>> of_mesh;
  for (const JobLayout& stem : stems)
    of_mesh[{stem.tensor, stem.context, stem.expert, stem.expert_tensor, stem.pipeline > 1}].push_back(stem);
  std::vector<std::vector<JobLayout>> meshes;
  for (auto& [mesh, members] : of_mesh) {
    std::ranges::stable_sort(members, {}, pass_key);
    meshes.push_back(std::move(members));
  }
  return meshes;
}

const StageTimes& PassTables::times(const JobLayout& stem) {
  const PassKey key = pass_key(stem);
  if (key_ == key) return times_;
  const Spec spec = with_layout(space_.spec(), widest(space_, stem));
  if (!context_ || mesh_ != spec.job.mesh.axes) {
    context_.emplace(fabric_, spec);
    mesh_ = spec.job.mesh.axes;
  }
  times_ = passes_alone(spec, *context_);
  key_ = key;
  return times_;
}

double PassTables::bound_s(const JobLayout& stem, const std::vector<JobLayout>& leaves) {
  const Job& job = space_.spec().job;
  const StageTimes& times = this->times(stem);
  double least = std::numeric_limits<double>::infinity();
  for (const JobLayout& leaf : leaves) {
    const auto [known, is_new] = shapes_.try_emplace({leaf.schedule, leaf.pipeline, leaf.chunks});
    if (is_new) known->second = stage_shape(job, space_.model(), leaf);
    known->second.pipeline.microbatches = microbatches_of(job, leaf);
    least = std::min(least, stage_bound_s(job.stack, times, known->second));
  }
  return least;
}

}  // namespace podsim
