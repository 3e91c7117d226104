// Columns of equal width.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// A table of aligned columns: first column to the left, others to the right.
std::string align(const std::vector<std::vector<std::string>>& rows);

}  // namespace podsim
