// Files of bounded size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/load.h"

namespace podsim {

// The bytes of a file, or nothing and one more problem. Reads little more than the largest size that the
// parser takes.
std::optional<std::string> read_file(const std::string& path, std::vector<Problem>& problems);

}  // namespace podsim
