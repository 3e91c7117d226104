// Texts taken apart at blanks and separators, and put together again.
#include "engine/words.h"

#include <gtest/gtest.h>

namespace podsim::words_test {
namespace {

TEST(Words, that_were_split_are_the_text_again_with_separators_between) {
  for (const std::string text : {"", ",", "a", "a,b", ",a,,b,", "a or b", " or ", "or"}) {
    EXPECT_EQ(separated(split(text, ','), ","), text);
    EXPECT_EQ(separated(split(text, " or "), " or "), text);
  }
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
}

TEST(Words, are_trimmed_of_the_blanks_that_are_named_at_both_ends_alone) {
  EXPECT_EQ(trim(" \ta b\t "), "a b");
  EXPECT_EQ(trim("\r\na\n"), "\r\na\n");
  EXPECT_EQ(trim("\r\na\n", " \t\r\n"), "a");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Words, between_blanks_are_never_empty) {
  EXPECT_EQ(blank_separated(" a\t b  c\r"), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(blank_separated(" \t\r").empty());
  EXPECT_TRUE(blank_separated("").empty());
}

TEST(Words, of_numbers_are_their_digits) {
  EXPECT_EQ(separated_numbers(std::vector<int>{4, -2, 1}, "x"), "4x-2x1");
  EXPECT_EQ(separated_numbers(std::vector<int>{}, "x"), "");
}

}  // namespace
}  // namespace podsim::words_test
