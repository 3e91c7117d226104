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

// Every chip class is in one *logical process*. A stream is *inner* or *shared*: the rendezvous of an inner
// stream have their members in one logical process each, and no two of them ever load the same link. All
// others are shared; those that load a link of an inner rendezvous *cross* its logical process.
struct LogicalProcesses {
  static constexpr std::int32_t kShared = -1;
  static constexpr std::size_t kMostChips = 64;  // of one: their state, 90 kB, is a part of the second cache

  Lists<std::int32_t> chips;                // [logical process], rising; none where nothing comes apart
  std::vector<std::int32_t> of_chip;        // [chip]
  std::vector<std::int32_t> place;          // [chip] index among those of its logical process
  std::vector<std::int32_t> of_rendezvous;  // [rendezvous] a logical process, or kShared
  Lists<std::int32_t> all_rendezvous;       // [logical process] inner
  Lists<std::int32_t> crossed;              // [rendezvous] logical processes, rising
  std::array<bool, kNetworkStreams> inner_streams{};

  bool any() const { return !chips.empty(); }
  bool shared(std::int32_t rendezvous) const { return any() && of_rendezvous[rendezvous] == kShared; }
  bool inner(Stream stream) const {
    return copies(stream) || inner_streams[static_cast<std::size_t>(stream)];
  }
};

// Logical processes of the streams of most operations that can be inner. O(memberships + uses of links).
LogicalProcesses find_logical_processes(const System& system, const StreamOperations& lists);

}  // namespace podsim
