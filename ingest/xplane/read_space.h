// Profiles of XProf as files: an XSpace message of protocol buffers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/xplane/space.h"
#include "proto/text/problem.h"

namespace podsim::xplane {

// By the name of its first plane, so that a file that was cut is still told.
bool is_space(std::string_view bytes);

// Nothing, and problems with the byte, where it is damaged.
std::optional<Space> read_space(const std::string& file, std::string_view bytes,
                                std::vector<Problem>& problems);

}  // namespace podsim::xplane
