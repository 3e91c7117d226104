// A chip's intervals of one stream, for timelines that are written out.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "scheduler/simulation/state/timeline.h"

namespace podsim::testing {

// Begin and end in microseconds.
struct Span {
  double begin_us, end_us;
  friend bool operator==(const Span&, const Span&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Span& span) {
    return out << span.begin_us << "-" << span.end_us;
  }
};
using Lane = std::vector<Span>;

// Operations of a stream in the order of their ends: "weights", "gradients", ...
inline Lane queue(const Timeline& timeline, ChipId chip, const std::string& stream) {
  Lane queue;
  for (const Interval& interval : timeline.intervals)
    if (interval.chip == chip && interval.stream == stream)
      queue.push_back(
          {static_cast<double>(interval.begin.ps) / 1e6, static_cast<double>(interval.end.ps) / 1e6});
  return queue;
}

// What the compute stream does, without its waits.
inline Lane computations(const Timeline& timeline, ChipId chip) {
  Lane queue;
  for (const Interval& interval : timeline.intervals)
    if (interval.chip == chip && interval.stream == "compute" && interval.what == "compute")
      queue.push_back(
          {static_cast<double>(interval.begin.ps) / 1e6, static_cast<double>(interval.end.ps) / 1e6});
  return queue;
}

}  // namespace podsim::testing
