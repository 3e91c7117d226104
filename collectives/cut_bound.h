// What a collective must carry across a cut of its network, whatever the algorithm, and the time that this
// takes at least.
#pragma once

#include <span>
#include <vector>

#include "collectives/collective.h"

namespace podsim {

// Ranks on the near side of a cut: [rank].
using Side = std::vector<bool>;

// Bytes that ranks of the near side must get to the others, since these hold none of it. With s of n ranks
// near and S bytes of the collective:
// - all-reduce: S, the sum of what is near; all-gather: s/n S; reduce-scatter: (n-s)/n S, sums of it;
// - all-to-all: s (n-s)/n S, with receive_share s times what the others receive of S; less by fanout.copies;
// - broadcast, send: S where the first rank is near; permute: S for every rank whose successor is not;
// - barrier: nothing. Nothing either where all that receive are near.
double must_cross(const Collective& collective, const Side& near);

// The cuts at which networks tend to be narrow: half of the group by chip number, and each of its first
// domains (of NVLink, or slices). At most 9; none for fewer than two ranks.
std::vector<Side> narrow_cuts(const Fabric& fabric, std::span<const ChipId> group);

// No algorithm is faster than must_cross over the minimum cut between the two sides, the slower direction of
// both. Without latencies. Searches two maximum flows. REQUIRES: near has a value for each rank.
Time cut_bound(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group,
               const Side& near);

// Whether the plan's loads on the links that leave the near ranks' chips carry what must cross, both ways.
// O(nodes + loads). REQUIRES: near has a value for each rank.
bool carries_across(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group,
                    const CollectivePlan& plan, const Side& near);

}  // namespace podsim
