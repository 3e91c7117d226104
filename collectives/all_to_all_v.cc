// All-to-all with unequal parts: what each rank sends goes to the ranks in given shares.
#include <algorithm>

#include "collectives/algorithms.h"
#include "engine/check.h"
#include "topology/gather_loads.h"

namespace podsim {

Phase all_to_all_v_phase(const Fabric& fabric, Bytes bytes, std::span<const double> receive_share,
                         std::span<const ChipId> group) {
  PODSIM_CHECK(receive_share.size() == group.size(), "an all-to-all has a share for every rank");
  const bool equal = std::ranges::all_of(receive_share, [&](double s) { return s == receive_share[0]; });
  if (equal) return all_to_all_phase(fabric, bytes, group);
  GatherLoads gathered(fabric);
  for (std::size_t rank = 0; rank < group.size(); ++rank)
    if (receive_share[rank] > 0) gathered.add(group, group[rank], receive_share[rank]);
  LoadSum sum;
  for (LinkId link = 0; link < static_cast<LinkId>(fabric.links.size()); ++link)
    if (gathered.units(link) > 0) sum.add(link, gathered.units(link));
  return {gathered.longest_latency(), sum.loads(bytes)};
}

}  // namespace podsim
