// What happens next, for slots that each wait for one event at most, few of them at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/units.h"

namespace podsim {

// A binary heap of the slots that wait. Of events at one instant any is next. O(log waiting) for each change,
// little of it for what happens late; takes fewer steps than IndexedEventQueue as long as few slots wait.
//
// What is taken off leaves a gap at the top, for what is set next: most events bring about another one.
class EventHeap {
 public:
  explicit EventHeap(std::size_t slots) : place_(slots, kNone) { heap_.reserve(slots); }

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
  // which moves all or none.
  template <class Visitor>
  void visit(Visitor& state) {
    std::int64_t never = Time::max().ps;
    for (const std::int32_t place : place_) state.moving(place == kNone ? never : heap_[place].time);
  }

 private:
  static constexpr std::int32_t kNone = -1;
  struct Event {
    std::int64_t time;
    std::int32_t slot;
  };

  void put(std::int32_t place, const Event& event);
  // The event goes to the place or, as far as it is earlier, above; or below, as far as it is later.
  void rise(std::int32_t place, Event event);
  void sink(std::int32_t place, Event event);
  void fill_gap();
  // From anywhere but the top.
  void remove(std::int32_t place);

  // INVARIANT: no event is earlier than the one above it, which is at (place - 1) / 2. A gap is earlier than
  // all, and no slot's.
  std::vector<Event> heap_;
  std::vector<std::int32_t> place_;  // [slot] in the heap, or kNone
  bool gap_ = false;                 // at the top of the heap
};

}  // namespace podsim
