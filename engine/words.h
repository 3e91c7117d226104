// Texts taken apart at blanks and separators, and lists of them put together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podsim {

// Without these characters at both ends; nothing of a text that has no others.
std::string trim(std::string_view text, std::string_view blanks = " \t");

// One part more than there are separators, so that the parts with the separator between them are the text
// again: of "a,,b" the second is empty, of an empty text the only one. REQUIRES: a separator that is not
// empty.
std::vector<std::string> split(std::string_view text, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);

// What stands between blanks, tabs and returns; parts of `text`, none of them empty.
std::vector<std::string_view> blank_separated(std::string_view text);

// "a, b, c": what `word` makes of each element, in the order of the range, a text or what can be added to
// one. Elements of which it makes nothing have their separators all the same; nothing of no elements.
template <class Range, class Word>
std::string separated(const Range& range, std::string_view between, Word word) {
  std::string text;
  bool first = true;
  for (const auto& each : range) {
    if (!first) text += between;
    first = false;
    text += word(each);
  }
  return text;
}

// The same of texts.
template <class Range>
std::string separated(const Range& range, std::string_view between) {
  return separated(range, between, [](const auto& text) { return std::string_view(text); });
}

// The same of whole numbers.
template <class Range>
std::string separated_numbers(const Range& range, std::string_view between) {
  return separated(range, between, [](auto number) { return std::to_string(number); });
}

}  // namespace podsim
