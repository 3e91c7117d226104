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

// A queue of a chip: how far it is in the list of its program's operations.
struct StreamQueue {
  Time reached;                 // when the first unfinished operation became the first, or the last one ended
  std::int32_t position = 0;    // of that operation
  std::int32_t unfinished = 0;  // of what has been launched
  std::int32_t received = 0;    // transfers that neighbours have sent on it and that have not been taken yet
  std::uint32_t ended = 0;      // operations so far; one that all chips of a group run has the same before it
};

// The queues of all chips, a row for each, with all lists in one place: what a queue holds is told by how far
// it has come and how much has been launched.
class StreamQueues {
 public:
  // REQUIRES: both outlive this object; the lists are those of the system.
  StreamQueues(const System& system, const StreamOperations& lists) : lists_(lists) {
    for (const ChipClass& chip : system.chips)
      most_queues_ = std::max(most_queues_, lists_.lists_of(chip.program).size());
    queues_.resize(system.chips.size() * most_queues_);
  }

  // What all of them carry over a step.
  const StreamOperations& lists() const { return lists_; }

  // The queue of the stream. REQUIRES here and below: `program` is the chip's, and has such a queue.
  StreamQueue& of(std::int32_t chip, int program, Stream stream) {
    return queues_[chip * most_queues_ + lists_.list_of(program, stream)];
  }

  // The operation whose turn it is. REQUIRES: there is one.
  const StreamOperation& first(std::int32_t chip, int program, Stream stream) const {
    const int l = lists_.list_of(program, stream);
    return lists_.operation(lists_.lists_of(program)[l], queues_[chip * most_queues_ + l].position);
  }

  // Where the chip meets others for an operation of its. O(1).
  std::int32_t rendezvous(std::int32_t chip, const StreamOperation& operation) const {
    return lists_.rendezvous_at(chip, operation.slot);
  }

  // The first operation is over.
  StreamQueue& end_first(std::int32_t chip, int program, Stream stream) {
    const int l = lists_.list_of(program, stream);
    StreamQueue& queue = queues_[chip * most_queues_ + l];
    if (++queue.position == lists_.lists_of(program)[l].count) queue.position = 0;
    --queue.unfinished;
    ++queue.ended;
    return queue;
  }

  // So many operations have been launched and are over by then. REQUIRES: there was no other.
  void pass(std::int32_t chip, int program, Stream stream, std::int32_t count, Time end) {
    const int l = lists_.list_of(program, stream);
    StreamQueue& queue = queues_[chip * most_queues_ + l];
    queue.position = (queue.position + count) % lists_.lists_of(program)[l].count;
    queue.ended += static_cast<std::uint32_t>(count);
    queue.reached = end;
  }

  // Nothing that came in the last step can be received in this one.
  void begin_step(std::int32_t chip, int program) {
    for (StreamQueue& queue : of(chip, program)) queue.received = 0;
  }

  // Loads what the chip's next event needs.
  void fetch_chip(std::int32_t chip) const {
    fetch(&queues_[chip * most_queues_], most_queues_ * sizeof(StreamQueue));
    lists_.fetch_chip(chip);
  }

  // Of state_capture.h.
  template <class Visitor>
  void visit(Visitor& state, std::int32_t chip, int program) {
    const std::span<StreamQueue> queues = of(chip, program);
    for (std::size_t l = 0; l < queues.size(); ++l) {
      StreamQueue& queue = queues[l];
      const StreamList& list = lists_.lists_of(program)[l];
      state.past(queue.reached);
      state.total(queue.position);
      state.fixed(queue.unfinished);
      state.fixed(queue.received);
      if (queue.position == list.count) queue.position = 0;  // where a jump ends with the list
      for (std::int32_t i = 0; i < queue.unfinished; ++i)
        state.fixed(lists_.operation(list, (queue.position + i) % list.count).message);
    }
  }

 private:
  std::span<StreamQueue> of(std::int32_t chip, int program) {
    return {queues_.data() + chip * most_queues_, lists_.lists_of(program).size()};
  }

  const StreamOperations& lists_;
  std::size_t most_queues_ = 1;      // of a chip
  std::vector<StreamQueue> queues_;  // [chip * most_queues_ + list]
};

}  // namespace podsim
