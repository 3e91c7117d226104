// The streams of every stage program as lists: what each puts on them over a step, in order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cache.h"
#include "scheduler/folding/system.h"

namespace podsim {

// An operation of a lane, and the seat of the chip where it meets the others of its group.
struct LaneOperation {
  std::int32_t message;
  std::int32_t seat;
};

// A stream that chips of a program launch on, or on which neighbours send to them.
struct Lane {
  Stream stream;
  std::int32_t first = 0, count = 0;  // of the operations
  std::int32_t most_unfinished =
      0;  // of them at once; kManyUnfinished where steps leave some to the next one
  static constexpr std::int32_t kManyUnfinished = INT32_MAX;
};

// Programs are fixed, so a chip needs no queue of what it has launched: a position in the list of its program
// and a count. The meeting of each operation is looked up once for all chips: a chip has a seat for each pair
// of a lane and a communicator.
class Lanes {
 public:
  // REQUIRES: `system` outlives this object.
  explicit Lanes(const System& system);

  struct Meeting {  // of a group class on one stream
    std::int32_t group;
    Stream stream;
    std::int32_t program = 0, seat = 0;  // of one that launches its operations, as all who do
  };
  const std::vector<Meeting>& meetings() const { return meetings_; }

  // The messages that the meeting runs in a step, one after another.
  std::span<const std::int32_t> messages_of(const Meeting& meeting) const {
    return programs_[meeting.program].seats[meeting.seat].messages;
  }

  std::span<const Lane> lanes_of(int program) const { return programs_[program].lanes; }
  // Index into lanes_of(program). REQUIRES: the program has such a lane.
  int lane_of(int program, Stream stream) const {
    return programs_[program].lane_of[static_cast<std::size_t>(stream)];
  }
  std::span<const LaneOperation> operations(const Lane& lane) const {
    return {operations_.data() + lane.first, static_cast<std::size_t>(lane.count)};
  }
  const LaneOperation& operation(const Lane& lane, std::int32_t position) const {
    return operations_[lane.first + position];
  }
  std::int32_t meeting_at(std::int32_t chip, std::int32_t seat) const {
    return meeting_at_[chip * most_seats_ + seat];
  }

  // Loads where the chip meets others.
  void fetch_chip(std::int32_t chip) const { fetch(meeting_at_[chip * most_seats_]); }

  // [message] the streams on which programs launch it, bit by bit.
  const std::vector<std::uint32_t>& streams_of() const { return streams_of_; }

 private:
  struct Seat {
    Stream stream;
    std::int32_t communicator;
    std::vector<std::int32_t> messages;  // of a step
  };
  struct Program {
    std::vector<Lane> lanes;
    std::array<std::int8_t, kNetworkStreams> lane_of;
    std::vector<Seat> seats;
  };

  void list_operations(const System& system, const StageProgram& stage);
  void assign_meetings(const System& system);

  std::vector<Program> programs_;
  std::vector<LaneOperation> operations_;
  std::vector<std::uint32_t> streams_of_;
  std::vector<Meeting> meetings_;
  std::size_t most_seats_ = 1;            // of a chip
  std::vector<std::int32_t> meeting_at_;  // [chip * most_seats_ + seat]
};

}  // namespace podsim
