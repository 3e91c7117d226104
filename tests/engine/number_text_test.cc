// Numbers that a text is, all of it.
#include "engine/number_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace podsim::number_text_test {
namespace {

TEST(NumberText, a_whole_number_reads_back_as_itself_to_the_ends_of_its_type) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t number : {Limits::min(), std::int64_t{-1}, std::int64_t{0}, Limits::max()})
    EXPECT_EQ(whole_text_as<std::int64_t>(std::to_string(number)), number);
  EXPECT_FALSE(whole_text_as<std::int32_t>(std::to_string(Limits::max())));
  EXPECT_FALSE(whole_text_as<std::uint64_t>("-1"));
}

TEST(NumberText, what_is_no_number_from_end_to_end_is_none) {
  for (const char* text : {"", " ", " 1", "1 ", "+1", "-", "1x", "x1", "0x10", "1,000"}) {
    EXPECT_FALSE(whole_text_as<std::int64_t>(text)) << text;
    EXPECT_FALSE(whole_text_as<double>(text)) << text;
  }
  EXPECT_FALSE(whole_text_as<std::int64_t>("1.0"));
  EXPECT_FALSE(whole_text_as<std::int64_t>("1e3"));
  EXPECT_EQ(whole_text_as<double>("1e3"), 1e3);
}

TEST(NumberText, a_number_is_finite_unless_it_is_wanted_as_it_is_written) {
  for (const char* text : {"inf", "-inf", "infinity", "nan", "NaN"}) {
    EXPECT_FALSE(whole_text_as<double>(text)) << text;
    EXPECT_TRUE(number_as_written<double>(text)) << text;
  }
  EXPECT_FALSE(number_as_written<double>("1e999"));
}

}  // namespace
}  // namespace podsim::number_text_test
