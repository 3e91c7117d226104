// Periods of prefixes come from their borders, as in Knuth, Morris and Pratt's search.
#include "scheduler/simulation/fast_forward/repetition.h"

#include <algorithm>
#include <optional>

namespace podsim {
namespace {

// The longest prefix of `list` that has at least two periods and one number more.
std::optional<Repetition> longest_prefix(std::span<const std::int32_t> list) {
  std::optional<Repetition> longest;
  // [i] numbers at the end of the first i + 1 that are also at their begin, and not all of them
  std::vector<std::size_t> border(list.size(), 0);
  for (std::size_t i = 1; i < list.size(); ++i) {
    std::size_t length = border[i - 1];
    while (length > 0 && list[i] != list[length]) length = border[length - 1];
    border[i] = length + (list[i] == list[length]);
    const std::size_t period = i + 1 - border[i];
    if (i >= 2 * period) longest = {0, i + 1, period};
  }
  return longest;
}

}  // namespace

std::vector<Repetition> repetitions(std::span<const std::int32_t> list) {
  const std::size_t stride = 1 + list.size() / 64;
  std::vector<Repetition> found;
  for (std::size_t begin = 0; begin < list.size();) {
    std::optional<Repetition> next = longest_prefix(list.subspan(begin));
    if (!next) {
      begin += stride;
      continue;
    }
    next->begin = begin;
    next->end += begin;
    while (next->begin > 0 && list[next->begin - 1] == list[next->begin - 1 + next->period]) --next->begin;
    found.push_back(*next);
    begin = next->end;
  }
  return found;
}

std::size_t repeated(std::span<const std::int32_t> list, std::size_t begin, std::size_t period) {
  std::size_t i = begin;
  while (i < list.size() && list[i] == list[i - period]) ++i;
  return i - begin;
}

}  // namespace podsim
