// Ranks that do the same at the same times: one of each kind is enough to run a step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/units.h"
#include "ingest/chakra/ranks.h"

namespace podsim::chakra {

struct AlikeRanks {
  std::vector<std::size_t> first;    // [rank] the first of those that do as it does, or itself
  std::vector<std::size_t> meeting;  // [meeting] the first of those that begin and end with it, or itself
};

// Ranks are told apart by what their traces have but names, then by whom they meet at which nodes and for how
// long, until nothing more follows from it; those in `apart` from all others. O(n log n) of ends of meetings,
// a few times.
AlikeRanks alike_ranks(const std::vector<RankTrace>& ranks, const std::vector<Meeting>& meetings,
                       const std::vector<Time>& times, std::span<const std::size_t> apart);

}  // namespace podsim::chakra
