// Stretches of time, their union and what two unions share.
#pragma once

#include <cstdint>
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
Intervals intersection_of(const Intervals& a, const Intervals& b);
std::int64_t length_ns(const Intervals& intervals);

}  // namespace podsim::kineto
