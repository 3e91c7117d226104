// Repetitions of lists whose periods can be seen.
#include "scheduler/simulation/fast_forward/repetition.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/random.h"

namespace podsim::repetition_test {
namespace {

std::vector<std::int32_t> letters(const std::string& text) { return {text.begin(), text.end()}; }

std::string described(const std::string& text) {
  std::string result;
  for (const Repetition& found : repetitions(letters(text)))
    result += text.substr(found.begin, found.end - found.begin) + "/" + std::to_string(found.period) + " ";
  return result;
}

TEST(Repetition, the_loop_of_a_step_is_found_with_its_least_period) {
  EXPECT_EQ(described("aFBFBFBFBz"), "FBFBFBFB/2 ");
  EXPECT_EQ(described("a12345z"), "");
  EXPECT_EQ(described(""), "");
}

TEST(Repetition, two_periods_alone_are_too_few) {
  EXPECT_EQ(described("aFBFBz"), "");
  EXPECT_EQ(described("aFBFBFz"), "FBFBF/2 ");
}

TEST(Repetition, loops_that_follow_one_another_are_found_each) {
  EXPECT_EQ(described("aFFFFFBBBBBz"), "FFFFF/1 BBBBB/1 ");
}

TEST(Repetition, a_long_period_that_contains_repetitions_is_found_behind_them) {
  // An interleaved schedule: warm-up forwards, then forwards and backwards of two chunks in turns.
  const std::string round = "1b1b1b2c2c2c";
  EXPECT_EQ(described("111222" + round + round + round + "bbbccc"),
            "111/1 222/1 " + round + round + round + "/12 bbb/1 ccc/1 ");
}

TEST(Repetition, every_one_is_a_repetition_that_cannot_be_stretched) {
  for (std::uint64_t round = 0; round < 300; ++round) {
    std::vector<std::int32_t> list;
    for (std::uint64_t i = 0; i < 60; ++i)
      list.push_back(static_cast<std::int32_t>(random_bits(3, RandomPurpose::kTest, round, i) % 2));
    for (const Repetition& found : repetitions(list)) {
      EXPECT_GT(found.end - found.begin, 2 * found.period);
      EXPECT_EQ(repeated(list, found.begin + found.period, found.period),
                found.end - found.begin - found.period);
      EXPECT_TRUE(found.begin == 0 || list[found.begin - 1] != list[found.begin - 1 + found.period]);
    }
  }
}

TEST(Repetition, what_repeats_is_counted_from_a_place_on) {
  const std::vector<std::int32_t> list = letters("FBFBFBz");
  EXPECT_EQ(repeated(list, 2, 2), 4u);
  EXPECT_EQ(repeated(list, 6, 2), 0u);
  EXPECT_EQ(repeated(list, 7, 2), 0u);
}

}  // namespace
}  // namespace podsim::repetition_test
