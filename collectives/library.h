// A library of collectives on a fabric: which algorithms it has, and what its protocols take by message size.
//
// - Rings, trees and the algorithms that are made of their steps have three protocols: LL and LL128 carry
//   flags in the data, so that small messages wait for no notice; Simple sends chunks with a notice each.
// - Exchanges (all pairs at once, sends, permutations) have a short and a long one; their ranks do not wait
//   for each other's parts.
// - Reductions in switches have one. A switch serves the members of a domain in turn, so that chunks grow
//   with them.
//
// What a protocol costs is given for links inside domains and for the network apart (LibrarySpec). A hop of
// either class costs the latency of its route and the step of the protocol.
#pragma once

#include <span>

#include "collectives/collective.h"

namespace podsim {

// Whether the library has the algorithm for this kind; log-step only where it is named.
bool is_offered(const LibrarySpec& library, CollectiveKind kind, Algorithm algorithm);

// The protocol that carries the largest messages of a plan.
Protocol protocol_of_largest(CollectiveKind kind, Algorithm algorithm);

// Share of a link's payload bandwidth that a protocol sustains.
double share_sustained(const LibrarySpec& library, Protocol protocol, LinkKind kind);

// What the costs of a library ask of a group.
struct GroupShape {
  int ranks = 1, domains = 1;
  int members = 1;      // of a domain at most
  Time inside, across;  // latency of one hop between two members of a domain, and between the domains that
                        // are farthest from each other
};
GroupShape shape_of(const Fabric& fabric, std::span<const ChipId> group);

// The plan with the best of the protocols for every message size: loads grow by what that of the largest
// messages does not sustain, and the ramp of the first phase has what each takes beyond them, which is never
// negative. Latencies are those of the steps that the library takes, one hop after another. REQUIRES: the
// plan has phases.
CollectivePlan over_library(const LibrarySpec& library, const Fabric& fabric, const GroupShape& shape,
                            const Collective& collective, CollectivePlan plan);

}  // namespace podsim
