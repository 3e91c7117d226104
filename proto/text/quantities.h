// Sizes, ranges and lists as users type them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace podsim {

// "64", "1MiB", "1.5GB", "16 GiB": bytes. Decimal units are powers of 1000, binary ones of 1024. Nothing for
// other text, and for what is not a positive number up to 1 PB.
std::optional<double> parse_bytes(const std::string& text);

// "1MiB..16GiB" doubles from the first to the last, "1MiB..16GiBx4" multiplies by 4, "8,64KiB" is a list,
// "1GiB" one size. Nothing for other text, a factor of at most 1, or more than 1000 values.
std::optional<std::vector<double>> parse_byte_range(const std::string& text);

// "64..4096x2", "64..512" (doubling), "64..512+64" and "64,96,128", of positive whole numbers; limits as
// above.
std::optional<std::vector<std::int64_t>> parse_count_range(const std::string& text);

// "4e6..16e6x2", "4e6..16e6" (doubling), "4e6..16e6+1e6" and "4e6,8e6", of positive numbers; limits as above.
// The end of a range that no step lands on is one of the values too.
std::optional<std::vector<double>> parse_number_range(const std::string& text);

inline constexpr std::int64_t kMostIndices = 1 << 24;  // values of a range; also the longest side of a shape

// "0..7", "0..56+8" and "3,1,2" of whole numbers from 0; a range without a step counts by one. Nothing for
// other text, or a range of more than kMostIndices values.
std::optional<std::vector<std::int64_t>> parse_index_list(const std::string& text);

// "8x8x8" -> {8, 8, 8}.
std::optional<std::vector<int>> parse_shape(const std::string& text);

}  // namespace podsim
