// A binary heap in which each slot's place is known.
#include "engine/event_heap.h"

#include <limits>

namespace podsim {
namespace {

constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();  // nothing rises above a gap

}  // namespace

void EventHeap::set(std::size_t slot, Time time) {
  if (time == Time::max()) return clear(slot);
  const Event event{time.ps, static_cast<std::int32_t>(slot)};
  const std::int32_t place = place_[slot];
  if (place == kNone && gap_) {
    gap_ = false;
    sink(0, event);
  } else if (place == kNone) {
    heap_.push_back(event);
    rise(static_cast<std::int32_t>(heap_.size()) - 1, event);
  } else if (time.ps < heap_[place].time) {
    rise(place, event);
  } else {
    sink(place, event);
  }
}

void EventHeap::clear(std::size_t slot) {
  const std::int32_t place = place_[slot];
  if (place == kNone) return;
  if (place > 0) return remove(place);
  place_[slot] = kNone;
  heap_.front().time = kEarliest;
  gap_ = true;
}

inline void EventHeap::put(std::int32_t place, const Event& event) {
  heap_[place] = event;
  place_[event.slot] = place;
}

inline void EventHeap::rise(std::int32_t place, Event event) {
  while (place > 0) {
    const std::int32_t above = (place - 1) / 2;
    if (heap_[above].time <= event.time) break;
    put(place, heap_[above]);
    place = above;
  }
  put(place, event);
}

void EventHeap::sink(std::int32_t place, Event event) {
  const auto size = static_cast<std::int32_t>(heap_.size());
  for (std::int32_t below; (below = 2 * place + 1) < size; place = below) {
    below += below + 1 < size && heap_[below + 1].time < heap_[below].time;
    if (event.time <= heap_[below].time) break;
    put(place, heap_[below]);
  }
  put(place, event);
}

void EventHeap::fill_gap() {
  gap_ = false;
  const Event last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sink(0, last);
}

void EventHeap::remove(std::int32_t place) {
  place_[heap_[place].slot] = kNone;
  const Event last = heap_.back();
  const std::int64_t gone = heap_[place].time;
  heap_.pop_back();
  if (place == static_cast<std::int32_t>(heap_.size())) return;
  last.time < gone ? rise(place, last) : sink(place, last);
}

}  // namespace podsim
