// A text as lines.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace podsim::testing {

// Without their ends; an end of line at the end of the text begins no further line.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace podsim::testing
