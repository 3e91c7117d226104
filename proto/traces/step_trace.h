// A simulated step as a file for viewers of traces.
#pragma once

#include <string>

#include "report/tracks/step_tracks.h"

namespace podsim {

// A trace that begins at 0 would begin before the viewer's clock: pictures begin here.
inline constexpr std::int64_t kTraceStartNs = 1'000'000;

// For Perfetto (proto/perfetto.proto), binary. Times are in nanoseconds to the nearest, exact picoseconds are
// arguments; what is shorter than a nanosecond can show is an instant.
std::string perfetto_trace(const StepTracks& step);

// The same slices as JSON of chrome://tracing, which other viewers read as well.
std::string chrome_trace(const StepTracks& step);

}  // namespace podsim
