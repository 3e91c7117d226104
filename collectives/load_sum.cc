// Sums what transfers put on links: sort by link and amount, then add up.
#include "collectives/load_sum.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace podsim {

void LoadSum::add(const Fabric& fabric, const std::vector<RouteHop>& hops, double units) {
  for (const RouteHop& hop : hops) add(hop.link, hop.share * units);
  longest_latency_ = std::max(longest_latency_, route_latency(fabric, hops));
  if (pending_.size() < merge_at_) return;
  merge();
  merge_at_ = std::max(merge_at_, 2 * pending_.size());
}

std::vector<LinkLoad> LoadSum::loads(Bytes per_unit) {
  merge();
  for (LinkLoad& load : pending_) load.bytes *= per_unit.value;
  std::erase_if(pending_, [](const LinkLoad& load) { return load.bytes <= 0; });
  return std::exchange(pending_, {});
}

void LoadSum::merge() {
  std::ranges::sort(pending_, {}, [](const LinkLoad& load) { return std::tuple(load.link, load.bytes); });
  std::size_t kept = 0;
  for (const LinkLoad& load : pending_) {
    if (kept > 0 && pending_[kept - 1].link == load.link)
      pending_[kept - 1].bytes += load.bytes;
    else
      pending_[kept++] = load;
  }
  pending_.resize(kept);
}

}  // namespace podsim
