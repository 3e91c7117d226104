// Sweeps over stretches in order of their beginnings.
#include "ingest/kineto/intervals.h"

#include <algorithm>

namespace podsim::kineto {

Intervals union_of(std::vector<Interval> stretches) {
  std::ranges::sort(stretches, {}, &Interval::begin_ns);
  Intervals result;
  for (const Interval& each : stretches) {
    if (each.end_ns <= each.begin_ns) continue;
    if (!result.empty() && each.begin_ns <= result.back().end_ns)
      result.back().end_ns = std::max(result.back().end_ns, each.end_ns);
    else
      result.push_back(each);
  }
  return result;
}

Intervals intersection_of(const Intervals& a, const Intervals& b) {
  Intervals result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::int64_t begin = std::max(a[i].begin_ns, b[j].begin_ns);
    const std::int64_t end = std::min(a[i].end_ns, b[j].end_ns);
    if (begin < end) result.push_back({begin, end});
    ++(a[i].end_ns < b[j].end_ns ? i : j);
  }
  return result;
}

std::int64_t length_ns(const Intervals& intervals) {
  std::int64_t sum = 0;
  for (const Interval& each : intervals) sum += each.end_ns - each.begin_ns;
  return sum;
}

}  // namespace podsim::kineto
