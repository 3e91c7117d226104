// Numbers that a text is, all of it.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace podsim {

// The text as one number in decimal digits, as std::from_chars reads it: without blanks or a plus around it.
// Nothing where there is no text, where something else stands in it, or where the type has no such number.
// Of floating point also "inf" and "nan", for those who tell what such a number must be.
// O(length).
template <class Number>
std::optional<Number> number_as_written(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The same, for those to whom a number that is not finite is none: "inf" and "nan" are refused as any other
// text is. ENSURES: finite.
template <class Number>
std::optional<Number> whole_text_as(std::string_view text) {
  const std::optional<Number> number = number_as_written<Number>(text);
  if constexpr (std::floating_point<Number>) {
    if (number && !std::isfinite(*number)) return std::nullopt;
  }
  return number;
}

}  // namespace podsim
