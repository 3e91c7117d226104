// How far every chip is in the lists of what its streams carry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cache.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/stream_operations.h"

namespace podsim {

// A lane of a chip: how far it is in the list of its program's operations.
struct RunningLane {
  Time reached;                 // when the first unfinished operation became the first, or the last one ended
  std::int32_t position = 0;    // of that operation
  std::int32_t unfinished = 0;  // of what has been launched
  std::int32_t received = 0;    // transfers that neighbours have sent on it and that have not been taken yet
  std::uint32_t ended = 0;      // operations so far; one that all chips of a group run has the same before it
};

class RunningLanes {
 public:
  // REQUIRES: `system` outlives this object.
  explicit RunningLanes(const System& system) : lists_(system) {
    for (const ChipClass& chip : system.chips)
      most_lanes_ = std::max(most_lanes_, lists_.lanes_of(chip.program).size());
    lanes_.resize(system.chips.size() * most_lanes_);
  }

  const Lanes& lists() const { return lists_; }

  // The lane of the stream. REQUIRES here and below: `program` is the chip's, and has such a lane.
  RunningLane& of(std::int32_t chip, int program, Stream stream) {
    return lanes_[chip * most_lanes_ + lists_.lane_of(program, stream)];
  }

  // The operation whose turn it is. REQUIRES: there is one.
  const LaneOperation& first(std::int32_t chip, int program, Stream stream) const {
    const int l = lists_.lane_of(program, stream);
    return lists_.operation(lists_.lanes_of(program)[l], lanes_[chip * most_lanes_ + l].position);
  }

  std::int32_t meeting(std::int32_t chip, const LaneOperation& operation) const {
    return lists_.meeting_at(chip, operation.seat);
  }

  // The first operation is over.
  RunningLane& end_first(std::int32_t chip, int program, Stream stream) {
    const int l = lists_.lane_of(program, stream);
    RunningLane& lane = lanes_[chip * most_lanes_ + l];
    if (++lane.position == lists_.lanes_of(program)[l].count) lane.position = 0;
    --lane.unfinished;
    ++lane.ended;
    return lane;
  }

  void begin_step(std::int32_t chip, int program) {
    for (RunningLane& lane : of(chip, program)) lane.received = 0;
  }

  // Loads what the chip's next event needs.
  void fetch_chip(std::int32_t chip) const {
    fetch(&lanes_[chip * most_lanes_], most_lanes_ * sizeof(RunningLane));
    lists_.fetch_chip(chip);
  }

  // Of state_capture.h.
  template <class Visitor>
  void visit(Visitor& state, std::int32_t chip, int program) {
    const std::span<RunningLane> lanes = of(chip, program);
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      RunningLane& lane = lanes[l];
      const Lane& list = lists_.lanes_of(program)[l];
      state.past(lane.reached);
      state.total(lane.position);
      state.fixed(lane.unfinished);
      state.fixed(lane.received);
      if (lane.position == list.count) lane.position = 0;  // where a jump ends with the list
      for (std::int32_t i = 0; i < lane.unfinished; ++i)
        state.fixed(lists_.operation(list, (lane.position + i) % list.count).message);
    }
  }

 private:
  std::span<RunningLane> of(std::int32_t chip, int program) {
    return {lanes_.data() + chip * most_lanes_, lists_.lanes_of(program).size()};
  }

  const Lanes lists_;
  std::size_t most_lanes_ = 1;      // of a chip
  std::vector<RunningLane> lanes_;  // [chip * most_lanes_ + lane]
};

}  // namespace podsim
