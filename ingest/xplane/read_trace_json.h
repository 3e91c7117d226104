// Profiles of XProf as its viewer reads them (*.trace.json): events with processes for devices, and threads
// for their lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/xplane/space.h"
#include "proto/text/problem.h"

namespace podsim::xplane {

// By processes that are devices, with lines that XProf names.
bool is_trace_json(std::string_view text);

// The same planes and lines as in the message of protocol buffers. Nothing, and problems, where it is no JSON
// or an event lacks what it needs.
std::optional<Space> read_trace_json(const std::string& file, std::string_view text,
                                     std::vector<Problem>& problems);

}  // namespace podsim::xplane
