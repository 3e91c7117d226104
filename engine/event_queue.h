// Pending events in time order; events of one instant leave in the order in which they were scheduled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/check.h"
#include "engine/units.h"

namespace podsim {

// A 4-ary heap of values. push and pop are O(log n); nothing is allocated once the heap has reached its
// largest size. Event: a small value type, copyable. Instant: an ordered count of ticks, made from an
// integer.
// Of four children each, so that the heap is half as deep as one of two and the children of an entry lie side
// by side in memory. INVARIANT: no entry is before its parent; of two at one instant the one that was pushed
// first is before.
template <class Event, class Instant = Time>
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Instant next_time() const { return heap_.front().time; }  // REQUIRES: !empty()

  // REQUIRES: time is not before the last popped event.
  void push(Instant time, Event event) {
    PODSIM_CHECK(time >= now_, "an event cannot be scheduled in the past");
    heap_.push_back({time, sequence_++, std::move(event)});
    sift_up(heap_.size() - 1);
  }

  // REQUIRES: !empty().
  Event pop() {
    Entry top = std::move(heap_.front());
    now_ = top.time;
    Entry last = std::move(heap_.back());
    heap_.pop_back();
    if (!heap_.empty()) {
      heap_.front() = std::move(last);
      sift_down(0);
    }
    return std::move(top.event);
  }

 private:
  struct Entry {
    Instant time;
    std::uint64_t sequence;
    Event event;
    bool before(const Entry& other) const {
      return time != other.time ? time < other.time : sequence < other.sequence;
    }
  };

  void sift_up(std::size_t i) {
    Entry moving = std::move(heap_[i]);
    while (i > 0) {
      std::size_t parent = (i - 1) / 4;
      if (!moving.before(heap_[parent])) break;
      heap_[i] = std::move(heap_[parent]);
      i = parent;
    }
    heap_[i] = std::move(moving);
  }

  void sift_down(std::size_t i) {
    Entry moving = std::move(heap_[i]);
    for (;;) {
      std::size_t best = 4 * i + 1;
      if (best >= heap_.size()) break;
      std::size_t end = std::min(best + 4, heap_.size());
      for (std::size_t child = best + 1; child < end; ++child)
        if (heap_[child].before(heap_[best])) best = child;
      if (!heap_[best].before(moving)) break;
      heap_[i] = std::move(heap_[best]);
      i = best;
    }
    heap_[i] = std::move(moving);
  }

  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;  // events that were ever pushed
  Instant now_{INT64_MIN};      // of the event that was popped last
};

}  // namespace podsim
