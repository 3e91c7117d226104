// In-switch reduction: the NVLink switches of one domain add up what all members send and send the sum to
// all.
#include "collectives/algorithms.h"

namespace podsim {

// Each member sends and receives the tensor once: its links carry what a ring with one full pass would.
// Packets of reductions carry less payload, so that the links are busy for longer than their bytes alone
// would make them.
std::optional<Phases> plan_nvls(const Fabric& fabric, const Collective& collective,
                                std::span<const ChipId> group) {
  const bool applies = fabric.nvls && fabric.gpus_per_domain > 1 &&
                       collective.kind == CollectiveKind::kAllReduce &&
                       cut_at_islands(fabric, group).count() == 1;
  if (!applies) return std::nullopt;
  LoadSum sum;
  for (std::size_t i = 0; i < group.size(); ++i)
    sum.add(fabric, route(fabric, group[i], group[(i + 1) % group.size()]), 1.0);
  const Time up_and_down = sum.longest_latency();
  return Phases{{up_and_down, sum.loads(collective.bytes / fabric.nvls_share)}};
}

}  // namespace podsim
