// SHA-256, by which results say what was asked.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace podsim {

// Of the bytes, as 64 hexadecimal digits (FIPS 180-4).
std::string sha256(std::string_view bytes);
// The same of all that a stream holds, of which only a piece is in memory at a time.
std::string sha256(std::istream& in);

// The same in base64 (RFC 4648), by which pages admit their scripts.
std::string sha256_base64(std::string_view bytes);

}  // namespace podsim
