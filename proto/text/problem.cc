// How a problem reads.
#include "proto/text/problem.h"

#include <algorithm>

#include "engine/utf8.h"

namespace podsim {
namespace {

// What a file holds may go to a terminal only as text of moderate length: controls become blanks, bytes that
// are no text '?'.
std::string shown_text(const std::string& text) {
  constexpr std::size_t kMostBytes = 2000;
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    if (shown.size() >= kMostBytes) return shown + "...";
    const std::size_t length = utf8_length(text, i);
    shown += length == 0 ? "?" : is_control(text[i]) ? " " : text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return shown;
}

}  // namespace

std::string format_problem(const Problem& problem) {
  std::string out = problem.file.empty() ? "\"\"" : shown_text(problem.file);
  if (problem.line > 0) out += ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column);
  out += ": " + shown_text(problem.message) + "\n";
  if (!problem.source_line.empty()) {
    out += "    " + shown_text(problem.source_line) + "\n";
    if (problem.caret > 0) out += "    " + std::string(problem.caret - 1, ' ') + "^\n";
  }
  if (!problem.hint.empty()) out += "    " + problem.hint + "\n";
  return out;
}

}  // namespace podsim
