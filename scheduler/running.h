// What the event loop remembers of chips and of collectives under way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/sharing.h"
#include "scheduler/lower.h"

namespace podsim {

struct Event {
  enum class Kind : std::uint8_t { kComputed, kPhaseBegins, kDrained, kArrived };
  Kind kind;
  std::int32_t index;     // chip class, or meeting
  std::uint32_t version;  // an event of an older version was overtaken and is ignored
};

// An operation that a chip has put on a stream and that has not ended.
struct Queued {
  std::int32_t message;
  Time reached;  // when it became first in the stream
};

struct RunningChip {
  std::size_t segment = 0, instruction = 0;
  bool computing = false, blocked = false, ended = false;
  Time since;                // begin of the present wait or computation
  std::int64_t left_ps = 0;  // computation left at `updated`, at full speed
  Time updated;
  std::uint32_t version = 0;
  Time lost;                               // of the present computation, to transfers beside it
  int transfers = 0;                       // it takes part in now
  std::vector<std::int32_t> transfers_of;  // [pattern]
  std::deque<Queued> queue[kStreams];
  std::int64_t arrived[2] = {0, 0},
               consumed[2] = {0, 0};  // transfers from the previous and from the next stage
  std::uint64_t operations = 0;       // computations so far; addresses its random draws

  // The present computation goes on from `updated` to `now`, `slow` times as slowly as alone. What it lost by
  // that.
  Time work_until(Time now, double slow) {
    const Time elapsed = now - updated;
    const Time done = slow == 1 ? elapsed : Time{std::llround(static_cast<double>(elapsed.ps) / slow)};
    updated = now;
    left_ps = std::max<std::int64_t>(0, left_ps - done.ps);
    lost += elapsed - done;
    return elapsed - done;
  }
};

// The operations of one stream that a group class runs one after another.
struct Meeting {
  std::int32_t group = -1;
  Stream stream = Stream::kActivation;
  std::int32_t message = -1;
  int reached = 0;  // members, of the operation to come
  Time last_reached;
  std::int32_t last = -1;  // member that reached it last; of several at one instant the slowest
  bool running = false, transferring = false;
  Time started;
  std::size_t phase = 0;
  ActivityId activity = -1;
  double left = 0;  // work, in bytes on the limiting link
  double rate = 0;
  Time updated;
  std::uint32_t version = 0;
};

}  // namespace podsim
