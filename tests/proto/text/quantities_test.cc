// Sizes, ranges and lists as users type them.
#include "proto/text/quantities.h"

#include <gtest/gtest.h>

namespace podsim::quantities_test {
namespace {

TEST(ParseBytes, decimal_units_are_powers_of_1000_and_binary_ones_of_1024) {
  EXPECT_EQ(parse_bytes("64"), 64);
  EXPECT_EQ(parse_bytes("1.5GB"), 1.5e9);
  EXPECT_EQ(parse_bytes("1GiB"), 1073741824);
  EXPECT_EQ(parse_bytes("16 KiB"), 16384);
}

TEST(ParseBytes, anything_else_is_refused) {
  for (const char* text : {"", "GiB", "-1", "0", "nan", "inf", "1e400", "1 furlong", "1GiBx2", "1..2"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(ParseByteRange, doubles_by_default_and_keeps_the_last) {
  EXPECT_EQ(parse_byte_range("1KiB..8KiB"), (std::vector<double>{1024, 2048, 4096, 8192}));
  EXPECT_EQ(parse_byte_range("1KiB..16KiBx4"), (std::vector<double>{1024, 4096, 16384}));
  EXPECT_EQ(parse_byte_range("8,1KB"), (std::vector<double>{8, 1000}));
  EXPECT_EQ(parse_byte_range("1GiB"), (std::vector<double>{1073741824}));
}

TEST(ParseByteRange, backward_endless_and_torn_ranges_are_refused) {
  for (const char* text : {"2KiB..1KiB", "1..8x1", "1..8x0", "..8", "1..", "a..b", "1,,2"}) {
    EXPECT_EQ(parse_byte_range(text), std::nullopt) << text;
  }
}

TEST(ParseCountRange, multiplies_adds_or_lists) {
  EXPECT_EQ(parse_count_range("64..512x2"), (std::vector<std::int64_t>{64, 128, 256, 512}));
  EXPECT_EQ(parse_count_range("64..300"), (std::vector<std::int64_t>{64, 128, 256}));
  EXPECT_EQ(parse_count_range("64..192+64"), (std::vector<std::int64_t>{64, 128, 192}));
  EXPECT_EQ(parse_count_range("64,96"), (std::vector<std::int64_t>{64, 96}));
}

TEST(ParseCountRange, zero_negative_and_huge_ranges_are_refused) {
  for (const char* text :
       {"0", "-1", "0..4", "1..1000000000+1", "64..32", "x", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(parse_count_range(text), std::nullopt) << text;
  }
}

TEST(ParseNumberRange, multiplies_adds_or_lists_and_keeps_the_end) {
  EXPECT_EQ(parse_number_range("4e6..16e6"), (std::vector<double>{4e6, 8e6, 16e6}));
  EXPECT_EQ(parse_number_range("4e6..16.8e6"), (std::vector<double>{4e6, 8e6, 16e6, 16.8e6}));
  EXPECT_EQ(parse_number_range("1e6..9e6x3"), (std::vector<double>{1e6, 3e6, 9e6}));
  EXPECT_EQ(parse_number_range("1e6..2.5e6+0.5e6"), (std::vector<double>{1e6, 1.5e6, 2e6, 2.5e6}));
  EXPECT_EQ(parse_number_range("1e6..2e+6"), (std::vector<double>{1e6, 2e6})) << "a plus of an exponent";
  EXPECT_EQ(parse_number_range("4e6,2e6"), (std::vector<double>{4e6, 2e6}));
}

TEST(ParseNumberRange, what_is_no_positive_number_is_refused) {
  for (const char* text : {"", "0", "-1", "x", "nan", "inf", "1..", "..2", "2..1", "1..2x1", "1..2x0.5",
                           "1..2+0", "1..1e9+1", "1,,2", "1e999", "1..2..3", "1 "})
    EXPECT_EQ(parse_number_range(text), std::nullopt) << text;
}

TEST(ParseIndexList, ranges_count_by_one_or_by_a_step) {
  EXPECT_EQ(parse_index_list("0..3"), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(parse_index_list("0..24+8"), (std::vector<std::int64_t>{0, 8, 16, 24}));
  EXPECT_EQ(parse_index_list("3,1,2"), (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_EQ(parse_index_list("0..99999999999"), std::nullopt);
}

TEST(ParseShape, lengths_stand_between_crosses) {
  EXPECT_EQ(parse_shape("8x8x16"), (std::vector<int>{8, 8, 16}));
  for (const char* text : {"", "8x", "x8", "8x0", "8x-4", "8 x 8", "9999999999x1"}) {
    EXPECT_EQ(parse_shape(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace podsim::quantities_test
