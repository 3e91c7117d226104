// What shared operations do to chips of logical processes that are behind the present.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cache.h"
#include "engine/check.h"
#include "engine/indexed_event_queue.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/loop/computation.h"

namespace podsim {

// A logical process that is behind is told when it gets there: messages of a logical process come in the
// order of time. One after which something of the logical process may happen earlier than foreseen *wakes*
// it: it is taken on no later than that may be.
class LpMailboxes {
 public:
  // A logical process's slot of the event queue is `first_slot` + logical process. REQUIRES: all of them
  // outlive this object.
  LpMailboxes(const LogicalProcesses& processes, Computation& computation, IndexedEventQueue& event_queue,
              std::size_t first_slot)
      : processes_(processes),
        computation_(computation),
        event_queue_(event_queue),
        first_slot_(first_slot),
        boxes_(processes.chips.size()),
        key_(boxes_.size(), Time::max()) {}

  // From here to `leave` what concerns the logical process's chips is done at once, because it is at the
  // present.
  void enter(std::int32_t process) { present_ = process; }
  void leave() { present_ = kNone; }
  bool at_present(std::int32_t chip) const { return processes_.of_chip[chip] == present_; }

  // As those of Computation.
  void start_known(std::int32_t chip, const KnownCollective& known, Time now);
  void forget_known(std::int32_t chip, std::int32_t rendezvous, bool draining, Time now);
  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now);

  // The chip goes on with its program, and concerns others no earlier than then. REQUIRES: it is not at the
  // present.
  void go_on(std::int32_t chip, Time now, Time earliest);

  // The logical process has an event at this time. REQUIRES: it is not at the present.
  void wake_by(std::int32_t process, Time event) {
    PODSIM_CHECK(process != present_, "who is at the present goes on by itself");
    if (event < key_[process]) wake_at(process, event);
  }

  // When the first message is from. Time::max() = there is none.
  Time next_time(std::int32_t process) const {
    const Box& box = boxes_[process];
    return box.read < box.messages.size() ? box.messages[box.read].at : Time::max();
  }

  // What has happened to a chip of a logical process that is behind, and when: a collective of known times
  // has started beside it, is known no longer, transfers have begun or ended, or its wait is over.
  struct LpMessage {
    enum class Kind : std::uint8_t { kStarts, kForgotten, kTransfers, kGoOn };
    Time at;
    Kind kind;
    bool draining = false;
    std::int32_t chip, pattern = kNone, rendezvous = kNone, difference = 0;
    std::span<const TransferEdge> edges = {};
  };
  // The first message. REQUIRES: there is one.
  const LpMessage& first(std::int32_t process) const {
    PODSIM_CHECK(boxes_[process].read < boxes_[process].messages.size(), "there is a message");
    return boxes_[process].messages[boxes_[process].read];
  }
  LpMessage take(std::int32_t process);

  // Loads what is needed to tell the chip of something.
  void fetch_chip(std::int32_t chip) const {
    computation_.fetch_pace(chip);
    fetch(boxes_[processes_.of_chip[chip]]);
    fetch(key_[processes_.of_chip[chip]]);
  }

  // The logical process is to be taken on at this time, and not later.
  void wake_at(std::int32_t process, Time time) {
    event_queue_.set(first_slot_ + static_cast<std::size_t>(process), key_[process] = time);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  // The messages of a logical process, of which the first `read` have been taken.
  struct Box {
    std::vector<LpMessage> messages;
    std::size_t read = 0;
  };

  void post(const LpMessage& message) {
    boxes_[processes_.of_chip[message.chip]].messages.push_back(message);
  }
  // The logical process is taken on by then, if not before.
  void post_and_wake(const LpMessage& message, Time by);
  // When it has to be taken on if the chip may compute so much faster from now on, and is settled at so many
  // more instants.
  Time earlier(std::int32_t chip, Time now, double faster, std::size_t instants) const;

  const LogicalProcesses& processes_;
  Computation& computation_;
  IndexedEventQueue& event_queue_;
  const std::size_t first_slot_;
  std::vector<Box> boxes_;  // [logical process]
  std::vector<Time> key_;   // [logical process] that its slot is set to
  std::int32_t present_ = kNone;
};

}  // namespace podsim
