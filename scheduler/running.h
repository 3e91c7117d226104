// What the event loop remembers of chips and of collectives under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
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

// First in, first out. Takes no memory of its own while nothing has come: a chip has many streams and uses
// few.
class StreamQueue {
 public:
  bool empty() const { return first_ == items_.size(); }
  std::size_t size() const { return items_.size() - first_; }
  Queued& front() { return items_[first_]; }
  std::span<Queued> items() { return std::span(items_).subspan(first_); }
  void push_back(const Queued& queued) { items_.push_back(queued); }
  void pop_front() {
    ++first_;
    if (2 * first_ < items_.size()) return;
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

 private:
  std::vector<Queued> items_;
  std::size_t first_ = 0;  // those before it have left
};

struct RunningChip {
  std::size_t segment = 0, instruction = 0;
  bool blocked = false, ended = false;
  Time since;  // begin of the present wait or computation
  Time host;  // when the host has launched what it has been asked for; it waits for receives, as the chip does
  Time met;   // when the host and the chip last waited for each other
  StreamQueue queue[kNetworkStreams];
  // [stream] transfers that neighbours have sent on this stream of theirs
  std::int64_t arrived[kNetworkStreams] = {}, consumed[kNetworkStreams] = {};
};

struct RunningJob {
  std::vector<std::int32_t> chips;  // its classes
  int running = 0;                  // of them, in the present step
  std::vector<Time> begins;         // of all steps so far
  Time next_batch;                  // when the batch of the step to come has been loaded

  void begin_step(Time now, const InputPipeline& input) {
    begins.push_back(now);
    const std::size_t next = begins.size(), ahead = static_cast<std::size_t>(input.ahead);
    const Time room = next < ahead ? Time{} : begins[next - ahead];
    next_batch = std::max(next_batch, room) + input.load;
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
  bool running = false;
  Time started;
  std::size_t phase = 0;
};

}  // namespace podsim
