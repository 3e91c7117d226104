// Stretches of time, their union and what two unions share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace podsim::kineto {

struct Interval {
  std::int64_t begin_ns = 0, end_ns = 0;
  bool operator==(const Interval&) const = default;
};

// Stretches in order that neither touch nor overlap.
using Intervals = std::vector<Interval>;

// Of any stretches; one that ends before it begins counts as its beginning. O(n log n).
Intervals union_of(std::vector<Interval> stretches);
// Of the events that `counts(event)` holds of.
template <class Event, class Counts>
Intervals union_if(const std::vector<const Event*>& events, const Counts& counts) {
  std::vector<Interval> stretches;
  for (const Event* event : events)
    if (counts(*event)) stretches.push_back({event->begin_ns, event->end_ns});
  return union_of(std::move(stretches));
}

Intervals intersection_of(const Intervals& a, const Intervals& b);
std::int64_t length_ns(const Intervals& intervals);

}  // namespace podsim::kineto
