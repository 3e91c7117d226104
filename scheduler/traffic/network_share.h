// Which share of a link's rate a message reaches: the rule of simulated traffic and of bounds on it.
#pragma once

#include "scheduler/lowering/instructions.h"
#include "topology/node_link.h"

namespace podsim {

// Of links between servers. Collectives reach what their library does (Stack::network_share, in (0, 1]);
// transfers between stages need no library's channels and reach all.
constexpr double network_share_of(const Scope& scope, double of_library) {
  return scope.point_to_point() ? 1 : of_library;
}

// Of a link of the kind, for a message with that share of the links between servers.
constexpr double share_of_link(LinkKind kind, double network_share) {
  return is_between_servers(kind) ? network_share : 1;
}

}  // namespace podsim
