// Which variables a shell script reads, and what of it stays open.
#include <algorithm>

#include "ingest/launchers/shell.h"
#include "ingest/launchers/shell_sum.h"

namespace podsim {
namespace {

// Whether a place lies in $((a sum)), whose variables have no "$".
bool is_in_sum(std::string_view text, std::size_t at) {
  const std::size_t open = text.rfind("$((", at);
  return open != std::string_view::npos && text.substr(open, at - open).find("))") == std::string_view::npos;
}

// Whether the bracket at `open` is closed by the last letter.
bool closes_at_end(std::string_view text, std::size_t open, char opening, char closing) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opening) ++depth;
    if (text[i] == closing && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace

bool is_unknown_word(std::string_view word) {
  if (word.size() < 2) return false;
  if (word[0] == '`') return word.find('`', 1) + 1 == word.size();
  if (word[0] != '$') return false;
  if (word[1] == '{') return closes_at_end(word, 1, '{', '}');
  if (word[1] == '(') return closes_at_end(word, 1, '(', ')');
  return word == "$@" || word == "$*" || std::all_of(word.begin() + 1, word.end(), is_of_variable);
}

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
