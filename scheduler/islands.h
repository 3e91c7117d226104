// Parts of a system that have nothing to do with each other for most of a step: the replicas of a
// data-parallel job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/lanes.h"
#include "scheduler/system.h"

namespace podsim {

// Every chip class is in one *island*. A meeting has its members in one island, or it is *shared*: it has
// members in all of them. No two islands have operations of their own on one link.
struct Islands {
  std::vector<std::vector<std::int32_t>>
      chips;                             // [island], rising; none where the system does not come apart
  std::vector<std::int32_t> of_meeting;  // [meeting] an island, or kShared
  static constexpr std::int32_t kShared = -1;

  bool any() const { return !chips.empty(); }
  bool shared(std::int32_t meeting) const { return any() && of_meeting[meeting] == kShared; }
};

// The islands that share the fewest operations, of at most half of the chips each.
// O(communicators x (memberships + uses of links)).
Islands find_islands(const System& system, const Lanes& lanes);

}  // namespace podsim
