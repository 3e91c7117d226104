// What profiles of a step become as a graph that runs on a fabric.
#pragma once

#include <vector>

#include "ingest/kineto/ranks.h"
#include "scheduler/replay/step_graph.h"

namespace podsim::kineto {

// Kernels follow the last one of their stream, and where that ended long before they began, whatever ended
// last on their rank; what time lay between is kept, as the host's. The kernels of one collective are a
// transfer that lasts as long as from its last arrival to its last end. Ranks without a profile do as the
// others. REQUIRES: `joined` is of these ranks.
StepGraph step_of_profiles(const std::vector<RankProfile>& ranks, const JoinedRanks& joined,
                           std::int64_t chips);

}  // namespace podsim::kineto
