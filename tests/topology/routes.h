// What several tests check of routes: conservation, and the loads of all pairs together.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "topology/route.h"

namespace podsim {

// Load per link, in units of the bytes of a pair, when every chip sends to every other.
inline std::vector<double> all_to_all_loads(const Fabric& fabric) {
  std::vector<double> loads(fabric.links.size(), 0.0);
  for (ChipId from = 0; from < fabric.chips; ++from)
    for (ChipId to = 0; to < fabric.chips; ++to)
      for (const RouteHop& hop : route(fabric, from, to)) loads[hop.link] += hop.share;
  return loads;
}

// Net flow out of every node is 1 at the source, -1 at the target and 0 elsewhere, and no link occurs twice.
inline void expect_unit_flow(const Fabric& fabric, ChipId from, ChipId to) {
  const auto hops = route(fabric, from, to);
  std::vector<double> net(fabric.nodes.size(), 0.0);
  std::vector<LinkId> links;
  double out_of_source = 0;
  for (const RouteHop& hop : hops) {
    const Link& link = fabric.links[hop.link];
    net[link.from] += hop.share;
    net[link.to] -= hop.share;
    links.push_back(hop.link);
    if (link.from == from) out_of_source += hop.share;
  }
  std::ranges::sort(links);
  ASSERT_EQ(std::ranges::adjacent_find(links), links.end());
  ASSERT_NEAR(out_of_source, from == to ? 0 : 1, 1e-12);
  for (NodeId node = 0; node < static_cast<NodeId>(net.size()); ++node)
    ASSERT_NEAR(net[node], (node == from) - (node == to), 1e-12) << node_name(fabric, node);
}

}  // namespace podsim
