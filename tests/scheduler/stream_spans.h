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
using Spans = std::vector<Span>;

// Operations of a stream in the order of their ends: "weights", "gradients", ...
inline Spans spans_of(const Timeline& timeline, ChipId chip, const std::string& stream) {
  Spans spans;
  for (const Interval& interval : timeline.intervals)
    if (interval.chip == chip && interval.stream == stream)
      spans.push_back(
          {static_cast<double>(interval.begin.ps) / 1e6, static_cast<double>(interval.end.ps) / 1e6});
  return spans;
}

// What the compute stream does, without its waits.
inline Spans computations(const Timeline& timeline, ChipId chip) {
  Spans spans;
  for (const Interval& interval : timeline.intervals)
    if (interval.chip == chip && interval.stream == "compute" && interval.what == "compute")
      spans.push_back(
          {static_cast<double>(interval.begin.ps) / 1e6, static_cast<double>(interval.end.ps) / 1e6});
  return spans;
}

}  // namespace podsim::testing
