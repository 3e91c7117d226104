// What some editors put in front of a text in UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace podsim {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

inline std::string without_byte_order_mark(std::string text) {
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace podsim
