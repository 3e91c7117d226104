// Slots of a system, where a group runs the operations of one stream, and which of them meet on links.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/fluid.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim::longest_path {

// One operation of a slot at a time, since each member has one of the stream at a time.
inline std::int32_t slot_of(std::int32_t group, Stream stream) {
  return group * kNetworkStreams + static_cast<std::int32_t>(stream);
}

// What a slot's message takes where it is alone on its links.
struct LoneTimes {
  Time arrival;                               // after the start
  std::vector<std::pair<Time, Time>> drains;  // begins and ends of its transfers, after the start
};

// All operations of a system, each as it runs alone.
class SharedSlots {
 public:
  // REQUIRES: the system outlives this.
  explicit SharedSlots(const System& system);

  // Every operation that programs launch ends when it is alone.
  bool all_end() const { return all_end_; }
  // Another slot loads a link that this one loads, with any message.
  bool shares(std::int32_t slot) const { return shares_[slot]; }
  const LoneTimes& lone(std::int32_t group, std::int32_t message) const {
    return lone_[index_(group, message)];
  }
  std::size_t index(std::int32_t group, std::int32_t message) const { return index_(group, message); }
  std::size_t size() const { return index_.size(); }
  // [link that several slots load] these.
  const std::vector<std::vector<std::int32_t>>& meetings() const { return meetings_; }

 private:
  void add(UncontendedCollectives& collectives, std::int32_t group, Stream stream, std::int32_t message);
  void meet();

  const GroupMessages index_;
  bool all_end_ = true;
  std::vector<char> known_;                          // [index * kNetworkStreams + stream] added before
  std::vector<LoneTimes> lone_;                      // [index]
  std::vector<char> shares_;                         // [slot]
  std::vector<std::vector<std::int32_t>> slots_of_;  // [link]
  std::vector<std::vector<std::int32_t>> meetings_;
};

}  // namespace podsim::longest_path
