// How a problem reads.
#include "proto/load.h"

namespace podsim {

std::string format_problem(const Problem& problem) {
  std::string out = problem.file;
  if (problem.line > 0) out += ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column);
  out += ": " + problem.message + "\n";
  if (!problem.source_line.empty()) {
    out += "    " + problem.source_line + "\n";
    if (problem.caret > 0) out += "    " + std::string(problem.caret - 1, ' ') + "^\n";
  }
  if (!problem.hint.empty()) out += "    " + problem.hint + "\n";
  return out;
}

}  // namespace podsim
