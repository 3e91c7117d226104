// The smallest scenario that still shows a finding.
#pragma once

#include <functional>
#include <string>

namespace podsim::testing {

// Leaves out blocks and fields, halves numbers and pairs of numbers, as long as `still` holds of what is
// left; asks at most `most_tries` times. REQUIRES: still(text).
std::string shrink(const std::string& text, const std::function<bool(const std::string&)>& still,
                   int most_tries);

}  // namespace podsim::testing
