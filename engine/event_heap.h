// What happens next, for slots that each wait for one event at most, few of them at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/units.h"

namespace podsim {

// A binary heap of the slots that wait. Of events at one instant any is next. O(log waiting) for each change,
// little of it for what happens late; takes fewer steps than IndexedEventQueue as long as few slots wait.
class EventHeap {
 public:
  explicit EventHeap(std::size_t slots) : place_(slots, kNone) { heap_.reserve(slots); }

  // The slot waits until then, and no longer for what it did; Time::max(): for nothing.
  void set(std::size_t slot, Time time) {
    std::int32_t place = place_[slot];
    if (place == kNone) {
      if (time == Time::max()) return;
      place = static_cast<std::int32_t>(heap_.size());
      heap_.push_back({time.ps, static_cast<std::int32_t>(slot)});
      rise(place, heap_.back());
    } else if (time == Time::max()) {
      remove(place);
    } else if (const Event event{time.ps, static_cast<std::int32_t>(slot)}; time.ps < heap_[place].time) {
      rise(place, event);
    } else {
      sink(place, event);
    }
  }
  void clear(std::size_t slot) {
    if (place_[slot] != kNone) remove(place_[slot]);
  }

  // Time::max() when nothing waits.
  Time next_time() const { return heap_.empty() ? Time::max() : Time{heap_.front().time}; }
  // REQUIRES: something waits.
  std::size_t next() const { return static_cast<std::size_t>(heap_.front().slot); }

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

  void put(std::int32_t place, const Event& event) {
    heap_[place] = event;
    place_[event.slot] = place;
  }
  // The event goes to the place or, as far as it is earlier, above. By value: places change meanwhile.
  void rise(std::int32_t place, Event event) {
    while (place > 0) {
      const std::int32_t above = (place - 1) / 2;
      if (heap_[above].time <= event.time) break;
      put(place, heap_[above]);
      place = above;
    }
    put(place, event);
  }
  void sink(std::int32_t place, Event event) {
    const auto size = static_cast<std::int32_t>(heap_.size());
    for (std::int32_t below; (below = 2 * place + 1) < size; place = below) {
      below += below + 1 < size && heap_[below + 1].time < heap_[below].time;
      if (event.time <= heap_[below].time) break;
      put(place, heap_[below]);
    }
    put(place, event);
  }
  void remove(std::int32_t place) {
    place_[heap_[place].slot] = kNone;
    const Event last = heap_.back();
    const std::int64_t gone = heap_[place].time;
    heap_.pop_back();
    if (place == static_cast<std::int32_t>(heap_.size())) return;
    last.time < gone ? rise(place, last) : sink(place, last);
  }

  std::vector<Event> heap_;
  std::vector<std::int32_t> place_;  // [slot] in the heap, or kNone
};

}  // namespace podsim
