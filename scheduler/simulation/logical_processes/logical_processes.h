// Parts of a system that have little to do with each other: the tensor groups of a job.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/lists.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/stream_operations.h"

namespace podsim {

// Every chip class is in one *island*. A stream is *inner* or *shared*: the meetings of an inner stream have
// their members in one island each, and no two of them ever load the same link. All others are shared; those
// that load a link of an inner meeting *cross* its island.
struct Islands {
  static constexpr std::int32_t kShared = -1;
  static constexpr std::size_t kMostChips = 64;  // of one: their state, 90 kB, is a part of the second cache

  Lists<std::int32_t> chips;             // [island], rising; none where nothing comes apart
  std::vector<std::int32_t> of_chip;     // [chip]
  std::vector<std::int32_t> place;       // [chip] index among those of its island
  std::vector<std::int32_t> of_meeting;  // [meeting] an island, or kShared
  Lists<std::int32_t> meetings;          // [island] inner
  Lists<std::int32_t> crossed;           // [meeting] islands, rising
  std::array<bool, kNetworkStreams> inner_streams{};

  bool any() const { return !chips.empty(); }
  bool shared(std::int32_t meeting) const { return any() && of_meeting[meeting] == kShared; }
  bool inner(Stream stream) const {
    return copies(stream) || inner_streams[static_cast<std::size_t>(stream)];
  }
};

// Islands of the streams of most operations that can be inner. O(memberships + uses of links).
Islands find_islands(const System& system, const Lanes& lanes);

}  // namespace podsim
