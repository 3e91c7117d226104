// A chip class on its way through a step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scheduler/simulation/longest_path/path_program.h"

namespace podsim::longest_path {

// An operation that has ended, as its member waits for it.
struct Ended {
  Time end, turn, started;
  std::int32_t last = -1, message = -1;
};

// A stream of a chip.
struct Lane {
  // Launched, and its end is not known.
  struct Pending {
    std::int32_t message, group;
    Time launched;
  };
  std::int64_t launched = 0, known = 0;  // operations, and of these those whose end is known
  std::int64_t passed = 0;               // so many have surely ended by the chip's time
  Time last_end;                         // of those known
  Time turn;                             // of the first that is pending
  std::vector<Ended> ended;              // the last of those known, in a ring
  std::vector<Pending> pending;
  std::size_t first_pending = 0;
  std::vector<Time> arrivals;  // of transfers from a neighbour
  std::size_t received = 0;
  std::int32_t source = -1;  // slot that they come from

  Ended& at(std::int64_t operation) {
    return ended[static_cast<std::size_t>(operation) & (ended.size() - 1)];
  }
  bool idle(Time now) const { return known == launched && last_end <= now; }
};

// Adds what stretches and their like leave in the accounts.
struct PathAccounts {
  std::array<Time, kBuckets> bucket{};
  std::vector<Time> exposed;          // [pattern]
  std::vector<std::int64_t> started;  // [SharedSlots::index] operations of stretches
  Time waited;
  Int128 caused_ps = 0;

  void book(Bucket in, Time time) { bucket[static_cast<std::size_t>(in)] += time; }
  void add(const Outcome& outcome, std::int64_t times);
};

// A transfer of the chip, and of which slot it is.
struct SlotDrain {
  Drain drain;
  std::int32_t slot;
};

class PathChip {
 public:
  enum class Blocked : std::uint8_t { kNo, kWait, kReceive };

  // REQUIRES: all of them outlive this.
  PathChip(const System& system, const SharedSlots& slots, const Program& program, const StageProgram& stage);

  Lane& lane(Stream of) { return lanes[static_cast<std::size_t>(of)]; }
  void pause_until(Time time, Bucket in) {
    if (time <= now) return;
    accounts.book(in, time - now);
    now = time;
  }

  // The next segment of the program; false at its end.
  bool next_segment();

  // Takes up the moves of a stretch, as one where it is one here, else one by one; in the latter case false.
  bool begin_stretch(std::int32_t number);
  // Takes up a lone computation.
  void begin_work(const Move& move);
  bool working() const { return working_; }
  // When what it has taken up is over, by what is known of transfers.
  Time end() const { return end_; }
  // Transfers beside it are others than were known. False where it is no stretch any more.
  bool foresee();
  // What it has taken up is over: its time, its host and its streams are as they are then.
  void end_work();

  // From now on the chip takes part in a transfer; one whose end is not known has none.
  void add_drain(const SlotDrain& drain) { drains_.push_back(drain); }
  void end_drain(std::int32_t slot, Time end);

  // All that was booked.
  PathAccounts totals() const;

  Time now, host;
  const Time input;
  bool over = false, queued = false;
  Blocked blocked = Blocked::kNo;
  Stream stream = Stream::kActivation;         // where it is blocked
  std::int64_t target = 0;                     // the operation that it waits for
  const Move *at = nullptr, *after = nullptr;  // of the segment
  std::array<Lane, kNetworkStreams> lanes;
  PathAccounts accounts;  // without stretches that went as one

 private:
  struct Variant {
    std::vector<Drain> beside;
    Outcome outcome;
    std::int64_t times = 0;
  };
  struct Known {
    std::int64_t alone = 0;  // times
    std::vector<Variant> beside;
  };

  // Of the moves that the chip has taken up, beside its transfers after their begin.
  void look_beside();
  const Outcome& outcome() const { return *outcome_; }
  void spell_out();

  const System& system_;
  const SharedSlots& slots_;
  const Program& program_;
  const std::vector<std::int32_t>& order_;
  std::size_t position_ = 0;
  const Move *resume_ = nullptr, *resume_end_ = nullptr;  // behind a stretch that goes move by move
  bool working_ = false;
  std::int32_t stretch_ = -1;    // number of what it has taken up, or -1
  std::span<const Move> moves_;  // of it
  Time begin_, end_;
  const Outcome* outcome_ = nullptr;
  std::int64_t* times_ = nullptr;  // of the outcome; none where it is booked at once
  Outcome lone_;                   // of what is not kept
  std::vector<Drain> beside_;
  std::vector<SlotDrain> drains_;
  std::vector<Known> known_;  // [stretch]
};

}  // namespace podsim::longest_path
