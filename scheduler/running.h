// What the event loop remembers of chips and of collectives under way.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "scheduler/lower.h"

namespace podsim {

struct Event {
  enum class Kind : std::uint8_t { kComputed, kPhaseBegins, kArrived, kCopied };
  Kind kind;
  std::int32_t index;  // chip class, or meeting
  std::uint32_t
      version;  // kComputed: one of an older version was overtaken and is ignored; kCopied: the stream
};

// An operation that a chip has put on a stream and that has not ended.
struct Queued {
  std::int32_t message;
  Time reached;  // when it became first in the stream
};

struct RunningChip {
  std::size_t segment = 0, instruction = 0;
  bool blocked = false, ended = false;
  Time since;  // begin of the present wait or computation
  std::deque<Queued> queue[kNetworkStreams];
  // [stream] transfers that neighbours have sent on this stream of theirs
  std::int64_t arrived[kNetworkStreams] = {}, consumed[kNetworkStreams] = {};
};

// The present step of a job.
struct RunningJob {
  std::vector<std::int32_t> chips;  // its classes
  int running = 0;                  // of them
  Time step_begin;
};

// The operations of one stream that a group class runs one after another.
struct Meeting {
  std::int32_t group = -1;
  Stream stream = Stream::kActivation;
  std::int32_t message = -1;
  int reached = 0;  // members, of the operation to come
  Time last_reached;
  std::int32_t last = -1;  // member that reached it last; of several at one instant the slowest
  bool running = false;
  Time started;
  std::size_t phase = 0;
};

}  // namespace podsim
