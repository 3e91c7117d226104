// How the library carries a collective on a fabric, as measured: which algorithms it has, and how their plans
// depend on message size.
#pragma once

#include <span>

#include "collectives/algorithms.h"

namespace podsim {

// Whether the library may choose the algorithm for this kind. It may not where a fabric's channels, or
// its library, name others for the kind; log-step only where one names it, as most libraries have it on
// request alone: its far steps crowd the upper switches when many groups take them at once. A pinned
// algorithm need not be offered.
bool is_offered(const Fabric& fabric, CollectiveKind kind, Algorithm algorithm);
// That, or log steps between slices in place of halving and doubling, where ranks are no power of two: else
// the next power of two would be many times faster than a ring of fewer.
bool is_considered(const Fabric& fabric, CollectiveKind kind, std::span<const ChipId> group,
                   Algorithm algorithm);

// The channel that fits a collective of this kind and algorithm best, by where its first chip lies: twisted
// slices count more than the algorithm, and that more than the kind. Null where none does.
const ChannelSpec* find_channel(const Fabric& fabric, CollectiveKind kind, Algorithm algorithm, ChipId chip);

// Share of a link's payload bandwidth that the channel sustains.
double share_sustained(const Fabric& fabric, const ChannelSpec& channel, LinkKind kind);

// The plan of these phases over the channel of the fabric that fits it best; over its library where none
// does, and as they are where it has neither. Never faster than without: loads grow by what the channel does
// not sustain, the first phase waits for the setup, and every phase has the ramp of its stages.
CollectivePlan over_channel(const Fabric& fabric, const Collective& collective, Algorithm algorithm,
                            std::span<const ChipId> group, Phases phases);

}  // namespace podsim
