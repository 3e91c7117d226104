// Ties: where the difference of two courses changes its sign.
#include "planner/plan/tie.h"

#include <gtest/gtest.h>

namespace podsim::tie_test {
namespace {

TEST(Tie, is_bracketed_within_a_thousandth_wherever_it_lies) {
  for (const double at : {0.0101, 0.5, 3.0, 999.0}) {
    const auto tie = find_tie([&](double value) { return value - at; }, 0.01, 1000, false);
    ASSERT_TRUE(tie) << at;
    EXPECT_LE(tie->below, at);
    EXPECT_GE(tie->above, at);
    EXPECT_LE(tie->above, tie->below * 1.001);
    EXPECT_LT(tie->evaluations, 30);
  }
}

TEST(Tie, of_whole_numbers_is_between_two_neighbours) {
  const auto tie = find_tie([](double value) { return 40.5 - value; }, 1, 4096, true);
  ASSERT_TRUE(tie);
  EXPECT_EQ(tie->below, 40);
  EXPECT_EQ(tie->above, 41);
}

TEST(Tie, is_none_where_one_is_better_at_both_ends) {
  EXPECT_FALSE(find_tie([](double value) { return value + 1; }, 1, 10, false));
  EXPECT_FALSE(find_tie([](double value) { return -value; }, 1, 10, false));
}

}  // namespace
}  // namespace podsim::tie_test
