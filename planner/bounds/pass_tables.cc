// Times the passes on a mesh that has every group that they can have, and looks up the rest.
#include "planner/bounds/pass_tables.h"

#include <algorithm>
#include <limits>

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

StageTimes times_of_key(const Space& space, const Fabric& fabric, const JobLayout& stem) {
  const Spec spec = with_layout(space.spec(), widest(space, stem));
  const MeshContext context(fabric, spec);
  return passes_alone(spec, context);
}

}  // namespace

PassKey pass_key(const JobLayout& stem) {
  return {stem.tensor,       stem.context,    stem.expert,   stem.expert_tensor,
          stem.pipeline > 1, stem.microbatch, stem.recompute};
}

bool has_pass_key(const Space& space, const JobLayout& stem) {
  return space.spec().cluster.fabric.gpu.has_value() && stem.recompute_layers == 0;
}

PassTable::PassTable(const Space& space, const Fabric& fabric, const JobLayout& stem)
    : space_(space), times_(times_of_key(space, fabric, stem)) {}

double PassTable::bound_s(const std::vector<JobLayout>& leaves) {
  const Job& job = space_.spec().job;
  double least = std::numeric_limits<double>::infinity();
  for (const JobLayout& leaf : leaves) {
    const auto [known, is_new] = shapes_.try_emplace({leaf.schedule, leaf.pipeline, leaf.chunks});
    if (is_new) known->second = stage_shape(job, space_.model(), leaf);
    known->second.pipeline.microbatches = microbatches_of(job, leaf);
    least = std::min(least, stage_bound_s(job.stack, times_, known->second));
  }
  return least;
}

}  // namespace podsim
