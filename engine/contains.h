// Whether a list has a value.
#pragma once

#include <algorithm>
#include <iterator>

namespace podsim {

// Whether one of the elements is equal to the value. O(n) comparisons.
template <class Range, class Value>
constexpr bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

}  // namespace podsim
