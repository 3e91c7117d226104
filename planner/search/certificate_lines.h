// How certificates write layouts and verdicts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.h"

namespace podsim {

std::string to_string(LayoutVerdict verdict);
std::optional<LayoutVerdict> verdict_named(const std::string& name);

// In the order of the members of JobLayout.
std::vector<int> numbers_of(const JobLayout& layout);
// Throws std::out_of_range where they are no canonical layout.
JobLayout layout_of_numbers(const std::vector<int>& numbers);

}  // namespace podsim
