// The graph of a step out of the Chakra traces of its ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "ingest/chakra/ranks.h"
#include "ingest/chakra/roofline.h"
#include "scheduler/replay/step_graph.h"

namespace podsim::chakra {

// Each rank computes with one operation of its chip and one of its host at a time. Calls of a group, and
// messages with one tag from a sender to a receiver, go one after the other in the order of their calls.
// Computations and copies take as long as recorded; a launch of a collective, too; with a roofline what it
// says, where they have work for it. A trace alone stands for all ranks of a run of `chips`. With a timer, of
// ranks that do the same at the same times only the first is kept, and the times of the run are those of all.
// REQUIRES: the ranks' messages meet. Throws ReplayError where durations sum to more than 50 days.
StepGraph step_of_ranks(const std::vector<RankTrace>& ranks, const Groups& groups, std::int64_t chips,
                        const TransferTimer* timer = nullptr,
                        const std::optional<Roofline>& roofline = std::nullopt);

}  // namespace podsim::chakra
