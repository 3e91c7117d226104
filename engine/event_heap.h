// What happens next, for slots that each wait for one event at most, few of them at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/units.h"

namespace podsim {

// A binary heap of instants, each with the slots that wait until then. Of events at one instant any is next.
// O(log instants) for each change, little of it for what happens late; takes fewer steps than
// IndexedEventQueue as long as few slots wait, or many of them for the same instants: chips that are alike
// and are told apart all the same go from instant to instant together.
//
// What is taken off leaves a gap at the top, for what is set next: most events bring about another one.
class EventHeap {
 public:
  explicit EventHeap(std::size_t slots);

  // The slot waits until then, and no longer for what it did; Time::max(): for nothing.
  void set(std::size_t slot, Time time);
  void clear(std::size_t slot);

  // Time::max() when nothing waits.
  Time next_time() {
    if (gap_) fill_gap();
    return heap_.empty() ? Time::max() : Time{heap_.front().time};
  }
  // The slot of an event of that time. REQUIRES: something waits.
  std::size_t next() {
    if (gap_) fill_gap();
    return static_cast<std::size_t>(heap_.front().slot);
  }

  // Goes over the times of all slots with a visitor of scheduler/simulation/fast_forward/state_capture.h,
  // which moves all or none. Those of the first `following` slots follow from what else it is told.
  template <class Visitor>
  void visit(Visitor& state, std::size_t following = 0) {
    std::int64_t never = kNever;
    const auto tell = [&](std::size_t slot, std::int64_t& time) {
      if (slot < following) {
        state.moves_along(time);
      } else {
        state.moving(time);
      }
    };
    for (std::size_t slot = 0; slot < place_.size(); ++slot) {
      const std::int32_t place = place_[slot];
      if (place >= 0) tell(slot, heap_[place].time);
      if (place == kNone) tell(slot, never);
      if (place == kChained) tell(slot, time_[slot]);
      if (place >= 0 && joins_) time_[slot] = heap_[place].time;
    }
  }

 private:
  static constexpr std::int32_t kNone = -1, kChained = -2;
  static constexpr std::int64_t kNever = Time::max().ps;
  struct Event {
    std::int64_t time;
    std::int32_t slot;  // the first of those that wait until then; of a gap any
  };
  struct Chain {  // of slots that wait for the same instant
    std::int32_t before = kNone, behind = kNone;
  };

  void set_apart(std::size_t slot, Time time);
  void clear_apart(std::size_t slot);
  void set_together(std::size_t slot, Time time);
  void clear_together(std::size_t slot);
  // From those that wait for the same instant; it then waits for nothing. False where there are none.
  bool unchain(std::int32_t slot);
  void put(std::int32_t place, const Event& event);
  // The event goes to the place or, as far as it is earlier, above; or below, as far as it is later.
  void rise(std::int32_t place, Event event);
  void sink(std::int32_t place, Event event);
  void fill_gap();
  // From anywhere but the top.
  void remove(std::int32_t place);

  // So many slots have a place of their own each, which takes less than joining them.
  static constexpr std::size_t kMostApart = 1024;
  static constexpr int kRecentBits = 4;

  // INVARIANT: no event is earlier than the one above it, which is at (place - 1) / 2. A gap is earlier than
  // all, and no slot's.
  std::vector<Event> heap_;
  std::vector<std::int32_t> place_;  // [slot] in the heap, kChained behind one that is there, or kNone
  bool gap_ = false;                 // at the top of the heap
  // Where slots wait together:
  const bool joins_;
  std::vector<std::int64_t> time_;                     // [slot]
  std::vector<Chain> chain_;                           // [slot]
  std::array<std::int32_t, 1 << kRecentBits> recent_;  // slots that were set lately, by their times
};

}  // namespace podsim
