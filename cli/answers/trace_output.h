// Steps to files for viewers of traces.
#pragma once

#include <optional>
#include <string>

#include "cli/options/options.h"
#include "report/tracks/step_tracks.h"
#include "report/tracks/track_excerpt.h"

namespace podsim {

// --perfetto and --chrome, --trace-window and --trace-stages; `what` = what they write: "the step".
void add_trace_options(CLI::App& verb, const std::string& what, TraceFiles& files);

// What of the step the files are to hold; nothing where the options are not as their help says, which is
// logged.
std::optional<TrackExcerpt> trace_excerpt(const TraceFiles& files);

// To each that is named, compressed where the name ends in .gz. False where the step has nothing of the part
// that is asked for; that is logged.
bool write_trace_files(const StepTracks& step, const TraceFiles& files, const TrackExcerpt& part);

}  // namespace podsim
