// Profiles of several ranks of one step: who kept the others waiting.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ingest/kineto/profile.h"
#include "ingest/kineto/summary.h"

namespace podsim::kineto {

struct RankProfile {
  std::string file;
  std::int64_t rank = 0;
  Profile profile;
  Summary summary;
};

// One collective, on all of its ranks. A kernel that begins early waits for the last rank: only from then on
// do bytes move.
struct JoinedCollective {
  std::vector<std::pair<std::size_t, std::size_t>> events;  // (rank among the profiles, event of its device)
  std::vector<std::string> kernels;                         // names without parameters, each once
  std::string kind, group;                                  // name of the group; empty: not said
  std::int64_t shortest_ns = 0, longest_ns = 0;
  std::int64_t first_arrival = 0, last_arrival = 0;  // ranks
  std::int64_t spread_of_begins_ns = 0;
  std::int64_t transfer_ns = 0;  // last end - last begin
  std::int64_t last_end_ns = 0;  // in the clock of all
  std::int64_t waited_ns = 0;    // by all ranks together, for the last one
};

// What one rank did to the others.
struct RankWaits {
  std::int64_t rank = 0;
  std::int64_t last = 0;           // collectives to which it came last
  std::int64_t waited_ns = 0;      // for others
  std::int64_t waited_for_ns = 0;  // by others, for it
  double slowness = 1;             // its computing time over that of the rank in the middle
};

// INVARIANT: ranks are in order, and differ.
struct JoinedRanks {
  std::vector<JoinedCollective> collectives;  // by their first beginning
  std::vector<RankWaits> ranks;
  std::int64_t unmatched = 0;          // kernels that other ranks lack
  std::int64_t mixed = 0;              // collectives whose ranks name different kernels
  std::vector<std::int64_t> shift_ns;  // [rank] added to its clock, so that collectives end together
  std::int64_t residual_ns = 0;        // how far ends still differ at most, after the shift
};

// The k-th kernel of a group on each of its ranks is one collective. Clocks are shifted only where they
// cannot be one: where a collective would end on one rank before it has begun on another.
JoinedRanks join(const std::vector<RankProfile>& ranks);

}  // namespace podsim::kineto
