// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <string_view>

namespace podsim {

// Bytes of the character at `at`: 1 to 4, or 0 where the bytes are not UTF-8. REQUIRES: at < text.size().
std::size_t utf8_length(std::string_view text, std::size_t at);

// C0 controls and DEL.
inline bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace podsim
