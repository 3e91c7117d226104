// Routes: which links a transfer between two chips loads, and with which share of its bytes.
#pragma once

#include <vector>

#include "topology/fabric.h"

namespace podsim {

struct RouteHop {
  LinkId link;
  double share;  // of the transfer's bytes; 1 on a single path, less where equal shortest paths split it
};

// Minimal routes.
// - Inside a torus slice: all shortest paths.
// - Elsewhere up-down over the lowest common switches: GPUs of one NVLink domain take their own link or
//   meet at its NVSwitch, others climb over NICs and leaves, chips of different slices over their hosts
//   and the DCN.
// - Wherever several links lead closer to the destination, the fabric's Routing says which are taken;
//   kAdaptive splits what arrives evenly over all of them.
// - On a damaged fabric: the shortest of what is left. Chips forward for others outside of a slice only where
//   nothing else leads there (a GPU without a NIC uses those of its NVLink domain), as few of them as can be.
//   Dimension order goes round a missing link on a shortest path that prefers x, then y.
// ENSURES: each link occurs once; shares out of `from` sum to 1. Empty when from == to.
// REQUIRES: the chips are connected; inside a slice, over its ICI.
std::vector<RouteHop> route(const Fabric& fabric, ChipId from, ChipId to);

// Latency of a route: sum of share * link latency (the plain path latency for a single path).
Time route_latency(const Fabric& fabric, const std::vector<RouteHop>& hops);

}  // namespace podsim
