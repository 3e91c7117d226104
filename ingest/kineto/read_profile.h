// Profiles out of JSON, event by event.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kineto/profile.h"
#include "proto/text/problem.h"

namespace podsim::kineto {

// Nothing, and problems with line and column, where the JSON is damaged, ends too early, or has an event that
// lacks what every event has. The text is not kept. O(text).
std::optional<Profile> read_profile(const std::string& file, std::string_view text,
                                    std::vector<Problem>& problems);

}  // namespace podsim::kineto
