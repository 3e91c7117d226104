// A part of a step's tracks: some of its time, some of its stages.
#pragma once

#include <optional>
#include <vector>

#include "report/tracks/step_tracks.h"

namespace podsim {

struct TrackWindow {
  Time from, to;
};

struct TrackExcerpt {
  std::optional<TrackWindow> window = {};  // nothing: all of the step
  std::vector<int> stages = {};            // ascending; none: all of them

  bool all() const { return !window && stages.empty(); }
};

// Slices that lie in the window, whole also where they begin before it or end behind it, so that what they
// say stays true; of flows those with both ends. Counters begin with what holds at the begin of the window;
// those that are of no stage stay.
StepTracks excerpt(StepTracks step, const TrackExcerpt& part);

// The end of the last slice.
Time end_of(const StepTracks& step);

// Ascending; empty where groups are of no stage.
std::vector<int> stages_of(const StepTracks& step);

}  // namespace podsim
