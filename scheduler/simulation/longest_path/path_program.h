// Programs of chip classes as moves: what has a constant length is one.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/longest_path/shared_slots.h"

namespace podsim::longest_path {

// Times that are added up in a maximum; this one never counts.
inline constexpr Time kNoTime{std::numeric_limits<std::int64_t>::min() / 4};

inline Time later(Time time, Time by) { return time == kNoTime ? kNoTime : time + by; }

// One instruction, or the whole of a stretch.
struct Move {
  enum class Kind : std::uint8_t {
    kWork,         // a computation of `length` in `bucket`
    kPause,        // for `length` in `bucket`
    kLaunch,       // `message` on `stream` by `group`
    kWait,         // until at most `pending` operations of `stream` are unfinished
    kReceive,      // the next transfer on `stream`
    kInput,        // until the next batch is there
    kHost,         // until the host has launched what takes it `length`
    kSynchronise,  // the host waits for the chip
    kStretch,      // number `message` of the program
  };
  Kind kind;
  Stream stream = Stream::kActivation;
  Bucket bucket = Bucket::kCompute;
  std::int32_t message = -1, group = -1, pending = 0;
  Time length;
};

// A transfer of the chip drains, after some instant.
struct Drain {
  Time begin, end;
  std::int32_t pattern;
  friend bool operator==(const Drain&, const Drain&) = default;
};

// Consecutive moves that take the same time whenever they begin with their streams idle, the host not too
// late, and the same transfers draining beside them: computations, and collectives of chips of this class
// alone on links of their own, all of which end within. Then the host is at max(host before + `host_add`,
// begin + `host_floor`).
struct Outcome {
  // False where beside these transfers it is no stretch: something would be under way at its end, or the host
  // would be late.
  bool holds = true;
  Time length;
  Time latest_host{std::numeric_limits<std::int64_t>::max()};  // before, after the begin
  Time host_add, host_floor = kNoTime;
  struct Lane {
    Stream stream;
    std::int32_t launches;
    Time last_end;  // after the begin
  };
  std::vector<Lane> lanes;
  // What each time adds to the accounts.
  std::array<Time, kBuckets> bucket{};
  std::vector<std::pair<std::int32_t, Time>> exposed;         // pattern
  std::vector<std::pair<std::size_t, std::int64_t>> started;  // SharedSlots::index
};

// One or more moves that have an outcome.
struct Stretch {
  std::int32_t first = 0, count = 0;  // in Program::spelled: the same move by move
  Outcome alone;                      // where no other transfer drains
};

// Of one chip class.
struct Program {
  double interference = 0, skew = 0;
  Time lead;  // of the host
  std::vector<Move> moves, spelled;
  std::vector<std::pair<std::int32_t, std::int32_t>> segments;  // [segment] its moves: first, end
  std::vector<Stretch> stretches;
};

// What the moves come to beside these transfers; all of it is after the begin.
Outcome outcome_of(const System& system, const SharedSlots& slots, const Program& program,
                   std::span<const Move> moves, const std::vector<Drain>& beside);

Program program_of(const System& system, const SharedSlots& slots, const ChipClass& chip);

}  // namespace podsim::longest_path
