// What shared operations do to chips of islands that are behind the present.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/indexed_event_queue.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/loop/computation.h"

namespace podsim {

// An island that is behind is told when it gets there: notices of an island come in the order of time. One
// after which something of the island may happen earlier than foreseen *wakes* it: it is taken on no later
// than that may be.
class Inboxes {
 public:
  // An island's slot of the agenda is `first_slot` + island. REQUIRES: all of them outlive this object.
  Inboxes(const Islands& islands, Computation& computation, Agenda& agenda, std::size_t first_slot)
      : islands_(islands),
        computation_(computation),
        agenda_(agenda),
        first_slot_(first_slot),
        boxes_(islands.chips.size()),
        key_(boxes_.size(), Time::max()) {}

  // From here to `leave` what concerns the island's chips is done at once, because it is at the present.
  void enter(std::int32_t island) { present_ = island; }
  void leave() { present_ = kNone; }
  bool at_present(std::int32_t chip) const { return !islands_.any() || islands_.of_chip[chip] == present_; }

  // As those of Computation.
  void start_known(std::int32_t chip, const KnownCollective& known, Time now);
  void forget_known(std::int32_t chip, std::int32_t meeting, bool draining, Time now);
  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now);

  // The chip goes on with its program, and concerns others no earlier than then. REQUIRES: it is not at the
  // present.
  void go_on(std::int32_t chip, Time now, Time concern);

  // The meeting, of this member, has an event at this time. Its island is taken on for it, where it has one.
  void await(std::int32_t meeting, std::int32_t member, Time event);

  // When the first notice is from. Time::max() = there is none.
  Time next_time(std::int32_t island) const {
    const Box& box = boxes_[island];
    return box.read < box.notices.size() ? box.notices[box.read].at : Time::max();
  }

  struct Notice {
    enum class Kind : std::uint8_t { kStarts, kForgotten, kTransfers, kGoOn };
    Time at;
    Kind kind;
    bool draining = false;
    std::int32_t chip, pattern = kNone, meeting = kNone, difference = 0;
    std::span<const TransferEdge> edges = {};
  };
  // The first notice. REQUIRES: there is one.
  const Notice& first(std::int32_t island) const { return boxes_[island].notices[boxes_[island].read]; }
  Notice take(std::int32_t island);

  // Loads what is needed to tell the chip of something.
  void fetch_chip(std::int32_t chip) const {
    computation_.fetch_pace(chip);
    fetch(boxes_[islands_.of_chip[chip]]);
    fetch(key_[islands_.of_chip[chip]]);
  }

  // The island is to be taken on at this time, and not later.
  void wake_at(std::int32_t island, Time time) {
    agenda_.set(first_slot_ + static_cast<std::size_t>(island), key_[island] = time);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  struct Box {
    std::vector<Notice> notices;
    std::size_t read = 0;
  };

  void post(const Notice& notice) { boxes_[islands_.of_chip[notice.chip]].notices.push_back(notice); }
  void post_and_wake(const Notice& notice, Time by);
  Time earlier(std::int32_t chip, Time now, double faster, std::size_t instants) const;

  const Islands& islands_;
  Computation& computation_;
  Agenda& agenda_;
  const std::size_t first_slot_;
  std::vector<Box> boxes_;  // [island]
  std::vector<Time> key_;   // [island] that its slot is set to
  std::int32_t present_ = kNone;
};

}  // namespace podsim
