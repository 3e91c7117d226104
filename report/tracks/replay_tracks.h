// A recorded step and the ideal one as tracks, for pictures along time.
#pragma once

#include <cstdint>
#include <string>

#include "report/tracks/step_tracks.h"
#include "scheduler/replay/recorded_trace.h"

namespace podsim {

// For each worker two groups: its operations as they were recorded, and as they would be if all took their
// ideal times. Computations are one track; what moves data has one for each kind. Operations of a track that
// overlap lie on further ones. Throws ReplayError (scheduler/replay/replay_graph.h). REQUIRES: the trace has
// the step.
StepTracks replay_tracks(const std::string& name, const RecordedTrace& trace, std::int32_t step);

}  // namespace podsim
