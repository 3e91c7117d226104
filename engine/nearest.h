// Which valid name a user probably meant.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// The valid name closest to `name` by edit distance, or empty when none is close.
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace podsim
