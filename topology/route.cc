// Routes: inside a torus slice, over an NVLink switch, over the fat-tree or the DCN.
#include "topology/route.h"

#include <algorithm>
#include <cmath>

#include "engine/random.h"
#include "topology/route_parts.h"

namespace podsim {
namespace {

constexpr std::int64_t kMostChoices = std::int64_t{1} << 31;  // more than chips: dividing by them gives 0

std::uint64_t hash_of(const Fabric& fabric, ChipId from, ChipId to, NodeId at) {
  std::uint64_t hash = mix(0, fabric.routing_seed);
  for (const NodeId node : {from, to, at}) hash = mix(hash, static_cast<std::uint64_t>(node));
  return hash;
}

// Numbers chips leaf by leaf, as the tables of d-mod-k do: chips of one leaf must spread over its uplinks,
// and on rail-optimised leaves their own numbers are a domain apart.
std::int64_t place_below_leaves(const Fabric& fabric, ChipId chip) {
  const auto links = fabric.out(chip);
  if (links.empty() || fabric.nodes[links.back().to].kind != NodeKind::kLeaf) return chip;
  const NodeId leaf = links.back().to;
  const auto first_leaf = static_cast<NodeId>(
      std::ranges::lower_bound(fabric.nodes, NodeKind::kLeaf, {}, &Node::kind) - fabric.nodes.begin());
  const auto ports = std::ranges::lower_bound(fabric.out(first_leaf), fabric.chips, {}, &Link::to) -
                     fabric.out(first_leaf).begin();
  const LinkId port = fabric.link_between(leaf, chip) - fabric.out_first[leaf];
  return std::int64_t{leaf - first_leaf} * ports + port;
}

}  // namespace

Steering::Steering(const Fabric& fabric, ChipId from, ChipId to) : fabric_(fabric), from_(from), to_(to) {
  if (fabric.routing == Routing::kStatic) place_ = place_below_leaves(fabric, to);
}

void Steering::choose(NodeId at, std::vector<NextHop>& hops) {
  std::size_t chosen = 0;
  switch (fabric_.routing) {
    case Routing::kAdaptive:
      return;
    case Routing::kDimensionOrder:
      break;
    case Routing::kEcmp:
      chosen = hash_of(fabric_, from_, to_, at) % hops.size();
      break;
    case Routing::kStatic:
      chosen = static_cast<std::size_t>(place_ / choices_below_) % hops.size();
      if (at >= fabric_.chips && choices_below_ < kMostChoices)
        choices_below_ *= static_cast<std::int64_t>(hops.size());
      break;
  }
  hops = {hops[chosen]};
}

void merge(std::vector<Arrival>& arrivals) {
  std::ranges::sort(arrivals);
  std::size_t kept = 0;
  for (const Arrival& arrival : arrivals) {
    if (kept > 0 && arrivals[kept - 1].place == arrival.place)
      arrivals[kept - 1].share += arrival.share;
    else
      arrivals[kept++] = arrival;
  }
  arrivals.resize(kept);
}

std::vector<RouteHop> route(const Fabric& fabric, ChipId from, ChipId to) {
  if (from == to) return {};
  const TorusSlice* slice = fabric.slice_of(from);
  if (slice != nullptr && slice == fabric.slice_of(to)) return route_in_slice(fabric, *slice, from, to);
  const int domain = fabric.gpus_per_domain;
  if (domain > 1 && from / domain == to / domain) {
    if (const LinkId link = fabric.link_between(from, to); link >= 0) return {{link, 1.0}};
    if (!fabric.nvlink_mesh) {
      const NodeId nvswitch = fabric.chips + from / domain;
      const LinkId up = fabric.link_between(from, nvswitch), down = fabric.link_between(nvswitch, to);
      if (up >= 0 && down >= 0) return {{up, 1.0}, {down, 1.0}};
    }
  }
  return route_over_switches(fabric, from, to);
}

Time route_latency(const Fabric& fabric, const std::vector<RouteHop>& hops) {
  double ps = 0;
  for (const RouteHop& hop : hops) ps += hop.share * static_cast<double>(fabric.links[hop.link].latency.ps);
  return {std::llround(ps)};
}

}  // namespace podsim
