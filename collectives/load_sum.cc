// Sums what transfers put on links: sort by link and amount, then add up.
#include "collectives/load_sum.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace podsim {
namespace {

// Where most links of a range occur, placing each load at its link's turn is several times faster than
// comparing loads.
void sort_by_link_and_bytes(std::vector<LinkLoad>& loads) {
  if (loads.empty()) return;
  const auto by_bytes = [](const LinkLoad& a, const LinkLoad& b) { return a.bytes < b.bytes; };
  const auto [least, most] = std::ranges::minmax(loads, {}, &LinkLoad::link);
  const auto range = static_cast<std::size_t>(most.link - least.link) + 1;
  if (range > 4 * loads.size()) {
    std::ranges::sort(loads, {}, [](const LinkLoad& load) { return std::tuple(load.link, load.bytes); });
    return;
  }
  std::vector<std::size_t> end(range + 1, 0);  // of each link's run, once the counts are summed
  for (const LinkLoad& load : loads) ++end[load.link - least.link + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<LinkLoad> sorted(loads.size());
  for (const LinkLoad& load : loads) sorted[end[load.link - least.link]++] = load;
  for (std::size_t link = 0, first = 0; link < range; first = end[link++])
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(first),
              sorted.begin() + static_cast<std::ptrdiff_t>(end[link]), by_bytes);
  loads = std::move(sorted);
}

}  // namespace

void LoadSum::add(const Fabric& fabric, const std::vector<RouteHop>& hops, double units) {
  for (const RouteHop& hop : hops) add(hop.link, hop.share * units);
  longest_latency_ = std::max(longest_latency_, route_latency(fabric, hops));
  if (!fabric.transport.is_ideal() && fabric.routing != Routing::kAdaptive && !hops.empty()) {
    transport_ = fabric.transport;
    const NodeId source = fabric.links[hops.front().link].from;
    const NodeId destination = fabric.links[hops.back().link].to;
    for (const RouteHop& hop : hops) flows_.push_back({hop.link, source, destination});
  }
  if (pending_.size() < merge_at_) return;
  merge();
  merge_at_ = std::max(merge_at_, 2 * pending_.size());
}

std::vector<LinkLoad> LoadSum::loads(Bytes per_unit) {
  merge();
  slow_down_collisions();
  for (LinkLoad& load : pending_) load.bytes *= per_unit.value;
  std::erase_if(pending_, [](const LinkLoad& load) { return load.bytes <= 0; });
  return std::exchange(pending_, {});
}

void LoadSum::slow_down_collisions() {
  std::ranges::sort(flows_);
  std::vector<NodeId> destinations;
  for (std::size_t i = 0, end; i < flows_.size(); i = end) {
    const LinkId link = flows_[i].link;
    std::size_t sources = 0;
    destinations.clear();
    for (end = i; end < flows_.size() && flows_[end].link == link; ++end) {
      if (end == i || flows_[end].source != flows_[end - 1].source) ++sources;
      destinations.push_back(flows_[end].destination);
    }
    std::ranges::sort(destinations);
    const auto repeated = std::unique(destinations.begin(), destinations.end());
    const auto different = static_cast<std::size_t>(repeated - destinations.begin());
    const auto load = std::ranges::lower_bound(pending_, link, {}, &LinkLoad::link);
    load->bytes /= transport_.collided_share(sources, different);
  }
  flows_.clear();
}

void LoadSum::merge() {
  sort_by_link_and_bytes(pending_);
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
