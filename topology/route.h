// Routes: which links a transfer between two chips loads, and with which share of its bytes.
#pragma once

#include <vector>

#include "topology/fabric.h"

namespace podsim {

struct RouteHop {
  LinkId link;
  double share;  // of the transfer's bytes; 1 on a single path, less where equal shortest paths split it
};

// Minimal routes with equal splitting.
// - Inside a torus slice: all shortest paths; traffic that reaches a chip is split evenly over every next hop
//   that is closer to the destination.
// - Elsewhere up-down over the lowest common switches: GPUs of one NVLink domain meet at its NVSwitch, others
//   climb over NICs and leaves, chips of different slices over their hosts and the DCN.
// ENSURES: each link occurs once; shares out of `from` sum to 1. Empty when from == to.
std::vector<RouteHop> route(const Fabric& fabric, ChipId from, ChipId to);

// Latency of a route: sum of share * link latency (the plain path latency for a single path).
Time route_latency(const Fabric& fabric, const std::vector<RouteHop>& hops);

}  // namespace podsim
