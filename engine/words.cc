// Texts taken apart at blanks and separators.
#include "engine/words.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {

std::string trim(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  PODSIM_CHECK(!separator.empty(), "a text is split at something");
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(separator, begin)) != std::string_view::npos;
       begin = at + separator.size())
    parts.emplace_back(text.substr(begin, at - begin));
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::vector<std::string> split(std::string_view text, char separator) {
  return split(text, std::string_view(&separator, 1));
}

std::vector<std::string_view> blank_separated(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

}  // namespace podsim
