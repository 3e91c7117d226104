// A binary heap in which each slot's place is known.
#include "engine/event_heap.h"

#include <limits>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();  // nothing rises above a gap

}  // namespace

EventHeap::EventHeap(std::size_t slots) : place_(slots, kNone), joins_(slots > kMostApart) {
  PODSIM_CHECK(slots < std::numeric_limits<std::int32_t>::max(), "slots have numbers of 32 bits");
  heap_.reserve(slots);
  if (!joins_) return;
  time_.assign(slots, kNever);
  chain_.resize(slots);
  recent_.fill(kNone);
}

void EventHeap::set(std::size_t slot, Time time) {
  if (joins_) return set_together(slot, time);
  set_apart(slot, time);
}

void EventHeap::clear(std::size_t slot) {
  if (joins_) return clear_together(slot);
  clear_apart(slot);
}

// ---- Each slot by itself

inline void EventHeap::set_apart(std::size_t slot, Time time) {
  if (time == Time::max()) return clear_apart(slot);
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

inline void EventHeap::clear_apart(std::size_t slot) {
  const std::int32_t place = place_[slot];
  if (place == kNone) return;
  if (place > 0) return remove(place);
  place_[slot] = kNone;
  heap_.front().time = kEarliest;
  gap_ = true;
}

// ---- Slots that wait for the same instant, of which the first has a place

void EventHeap::set_together(std::size_t slot, Time time) {
  if (time == Time::max()) return clear_together(slot);
  const std::uint64_t mixed = static_cast<std::uint64_t>(time.ps) * 0x9e3779b97f4a7c15;
  std::int32_t& known = recent_[mixed >> (64 - kRecentBits)];
  const auto number = static_cast<std::int32_t>(slot);
  if (known != kNone && known != number && time_[known] == time.ps) {
    clear_together(slot);
    Chain& before = chain_[known];
    chain_[slot] = {known, before.behind};
    if (before.behind != kNone) chain_[before.behind].before = number;
    before.behind = number;
    place_[slot] = kChained;
  } else {
    known = number;
    unchain(number);
    set_apart(slot, time);
  }
  time_[slot] = time.ps;
}

void EventHeap::clear_together(std::size_t slot) {
  time_[slot] = kNever;
  if (!unchain(static_cast<std::int32_t>(slot))) clear_apart(slot);
}

bool EventHeap::unchain(std::int32_t slot) {
  const std::int32_t place = place_[slot];
  if (place != kChained && chain_[slot].behind == kNone) return false;
  const Chain chain = std::exchange(chain_[slot], {});
  place_[slot] = kNone;
  PODSIM_CHECK(place != kChained || chain.before != kNone, "who is behind another one knows it");
  if (chain.behind != kNone) chain_[chain.behind].before = chain.before;
  if (place == kChained) {
    chain_[chain.before].behind = chain.behind;
  } else {
    heap_[place].slot = chain.behind;
    place_[chain.behind] = place;
  }
  return true;
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
