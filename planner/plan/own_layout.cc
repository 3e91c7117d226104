// Words of a search that leave one layout.
#include "planner/plan/own_layout.h"

#include <algorithm>

#include "scheduler/question/spec.h"

namespace podsim {

LayoutSpace space_of(const OwnLayout& own, const Spec& cluster) {
  const JobLayout& layout = own.layout;
  const int of_rank = layout.chips() / layout.batch_ranks();
  const int ranks = std::max(1, cluster.cluster.fabric.chips / of_rank);
  LayoutSpace only;
  only.tensor = {layout.tensor};
  only.context = {layout.context};
  only.pipeline = {layout.pipeline};
  only.expert = {layout.expert};
  if (layout.expert > 1) only.expert_tensor = {layout.expert_tensor};
  only.microbatch = {own.all_at_once ? std::max(1, cluster.job.global_batch / ranks) : layout.microbatch};
  only.schedule = {layout.schedule};
  only.chunks = {layout.chunks};
  only.sharding = {layout.sharding};
  if (layout.sharding == StateSharding::kHsdp) only.fsdp_group = {layout.group};
  only.recompute = {layout.recompute};
  only.recompute_layers = {layout.recompute_layers};
  only.memory_headroom_share = 0;
  return only;
}

}  // namespace podsim
