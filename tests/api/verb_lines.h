// A command line of every verb, from verb_lines.txt, which the tests of the Python module read as well.
#pragma once

#include <string>
#include <vector>

namespace podsim::testing {

struct VerbLine {
  std::string verb, text;
  bool json = false;  // what it prints
};

std::vector<std::string> words_of(const std::string& line);

// Paths are relative to the root of the repository. The files that stand there as TRACE and STORE are made.
std::vector<VerbLine> verb_lines();

}  // namespace podsim::testing
