// Which variables a shell script reads.
#include "ingest/launchers/shell.h"
#include "ingest/launchers/shell_sum.h"

namespace podsim {
namespace {

// Whether a place lies in $((a sum)), whose variables have no "$".
bool is_in_sum(std::string_view text, std::size_t at) {
  const std::size_t open = text.rfind("$((", at);
  return open != std::string_view::npos && text.substr(open, at - open).find("))") == std::string_view::npos;
}

}  // namespace

bool reads_variable(std::string_view text, std::string_view name) {
  if (name.empty()) return false;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end < text.size() && is_of_variable(text[end])) continue;
    if (at == 0 || is_of_variable(text[at - 1])) continue;
    if (text[at - 1] == '$' || (at > 1 && text.substr(at - 2, 2) == "${") || is_in_sum(text, at)) return true;
  }
  return false;
}

}  // namespace podsim
