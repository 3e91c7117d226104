// Files of bounded size.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "proto/load.h"
#include "proto/parse.h"

namespace podsim {

// The bytes of a file, or nothing and one more problem. Reads one byte more than the largest size that the
// parser takes.
std::optional<std::string> read_file(const std::string& path, std::vector<Problem>& problems,
                                     std::size_t most_bytes = kMaxTextBytes);

}  // namespace podsim
