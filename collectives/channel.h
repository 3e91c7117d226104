// How the library carries a collective on a fabric, as measured: which algorithms it has, and how their plans
// depend on message size.
#pragma once

#include <span>

#include "collectives/algorithms.h"

namespace podsim {

// Whether the library may choose the algorithm for this kind. It may not where a fabric's channels name
// others for the kind; log-step only where one names it, as most libraries have it on request alone: its far
// steps crowd the upper switches when many groups take them at once. A pinned algorithm need not be offered.
bool is_offered(const Fabric& fabric, CollectiveKind kind, Algorithm algorithm);

// The plan of these phases over the channel of the fabric that fits it best; as they are where none does.
// Never faster than without: loads grow by what the channel does not sustain, the first phase waits for the
// setup, and every phase has the ramp of its stages.
CollectivePlan over_channel(const Fabric& fabric, const Collective& collective, Algorithm algorithm,
                            std::span<const ChipId> group, Phases phases);

}  // namespace podsim
