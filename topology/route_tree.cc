// Routes over switches: up to the lowest common ones and down again.
#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/check.h"
#include "topology/route_parts.h"

namespace podsim {
namespace {

LinkId link_up(const Fabric& fabric, NodeId node) {
  const LinkId last = fabric.out_first[node + 1] - 1;
  const bool climbs =
      last >= fabric.out_first[node] && fabric.nodes[fabric.links[last].to].tier > fabric.nodes[node].tier;
  PODSIM_CHECK(climbs, "no way up from " + node_name(fabric, node));
  return last;
}

// One way up from every node: the only common switch is where both climbs meet.
std::vector<RouteHop> climb_alone(const Fabric& fabric, ChipId from, ChipId to) {
  constexpr std::size_t kUsualTiers = 3;
  std::vector<RouteHop> hops;
  hops.reserve(2 * kUsualTiers);
  for (NodeId a = from, b = to; a != b;) {
    const LinkId up = link_up(fabric, a);
    const NodeId above_b = fabric.links[link_up(fabric, b)].to;
    const RouteHop turn[] = {{up, 1.0}, {fabric.link_between(above_b, b), 1.0}};
    hops.insert(hops.begin() + static_cast<std::ptrdiff_t>(hops.size() / 2), std::begin(turn),
                std::end(turn));
    a = fabric.links[up].to;
    b = above_b;
  }
  return hops;
}

using Nodes = std::vector<NodeId>;  // ascending

bool leads_up(const Fabric& fabric, const Link& link) {
  return fabric.nodes[link.to].tier > fabric.nodes[link.from].tier && link.kind != LinkKind::kNvlink;
}

// What lies one tier above any of the nodes; NVLink leads aside.
Nodes above(const Fabric& fabric, const Nodes& nodes) {
  Nodes found;
  for (const NodeId node : nodes)
    for (const Link& link : fabric.out(node))
      if (leads_up(fabric, link)) found.push_back(link.to);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// The lowest common switches of two chips and all that leads there, by tier.
struct Climb {
  int tiers = 0;            // up to the lowest common switches; 0 when there are none
  std::vector<Nodes> up;    // from the source, as far as it leads on; empty = every link up does
  std::vector<Nodes> down;  // what leads down to the target, below the lowest common switches
};

// Without failures parallel switches serve the same ones: following any link up tells where two climbs meet.
Climb climb_without_failures(const Fabric& fabric, ChipId from, ChipId to) {
  Climb climb;
  for (NodeId a = from, b = to; a != b; ++climb.tiers) {
    a = fabric.links[fabric.out_first[a + 1] - 1].to;
    b = fabric.links[fabric.out_first[b + 1] - 1].to;
  }
  climb.down.push_back({to});
  while (static_cast<int>(climb.down.size()) < climb.tiers)
    climb.down.push_back(above(fabric, climb.down.back()));
  return climb;
}

Climb climb_round_damage(const Fabric& fabric, ChipId from, ChipId to) {
  Climb climb{0, {{from}}, {{to}}};
  Nodes common;
  while (common.empty()) {
    climb.up.push_back(above(fabric, climb.up.back()));
    climb.down.push_back(above(fabric, climb.down.back()));
    if (climb.up.back().empty() || climb.down.back().empty()) return {};
    std::ranges::set_intersection(climb.up.back(), climb.down.back(), std::back_inserter(common));
  }
  climb.tiers = static_cast<int>(climb.up.size()) - 1;
  climb.up.back() = std::move(common);
  for (int tier = climb.tiers - 1; tier > 0; --tier)
    std::erase_if(climb.up[tier], [&](NodeId node) {
      return std::ranges::none_of(fabric.out(node), [&](const Link& link) {
        return std::ranges::binary_search(climb.up[tier + 1], link.to);
      });
    });
  return climb;
}

std::vector<RouteHop> follow(const Fabric& fabric, const Climb& climb, ChipId from, ChipId to) {
  return spread(fabric, from, to, [&](Place node, int step, std::vector<NextHop>& hops) {
    if (step < climb.tiers) {
      for (LinkId id = fabric.out_first[node]; id < fabric.out_first[node + 1]; ++id) {
        const Link& link = fabric.links[id];
        const bool leads_on = climb.up.empty() ? leads_up(fabric, link)
                                               : std::ranges::binary_search(climb.up[step + 1], link.to);
        if (leads_on) hops.push_back({id, link.to});
      }
    } else if (step < 2 * climb.tiers) {
      for (const NodeId below : climb.down[2 * climb.tiers - step - 1])
        if (const LinkId link = fabric.link_between(node, below); link >= 0) hops.push_back({link, below});
    }
  });
}

// Where no climbs meet, chips have to forward.
std::vector<RouteHop> forwarding_route(const Fabric& fabric, ChipId from, ChipId to) {
  const Ways ways = Ways::anywhere(fabric, to, from);
  PODSIM_CHECK(ways.lead_from(from),
               "no way left between chips " + std::to_string(from) + " and " + std::to_string(to));
  return spread(fabric, from, to,
                [&](Place place, int, std::vector<NextHop>& hops) { ways.next(place, hops); });
}

}  // namespace

std::vector<RouteHop> route_over_switches(const Fabric& fabric, ChipId from, ChipId to) {
  if (fabric.damaged) {
    const Climb climb = climb_round_damage(fabric, from, to);
    return climb.tiers > 0 ? follow(fabric, climb, from, to) : forwarding_route(fabric, from, to);
  }
  if (!fabric.individual_switches) return climb_alone(fabric, from, to);
  return follow(fabric, climb_without_failures(fabric, from, to), from, to);
}

}  // namespace podsim
