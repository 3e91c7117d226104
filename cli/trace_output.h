// Steps to files for viewers of traces.
#pragma once

#include <string>

#include "report/step_tracks.h"

namespace CLI {
class App;
}

namespace podsim {

// --perfetto and --chrome; `what` = what they write: "the step".
void add_trace_options(CLI::App& verb, const std::string& what, std::string& perfetto, std::string& chrome);

// To each that is named, compressed where the name ends in .gz.
void write_trace_files(const StepTracks& step, const std::string& perfetto, const std::string& chrome);

}  // namespace podsim
