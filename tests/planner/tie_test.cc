// Ties: where the difference of two courses changes its sign.
#include "planner/plan/tie.h"

#include <gtest/gtest.h>

#include "engine/random.h"

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

// USD per useful FLOP of two chips, price / (peak x MFU): what must tie is known in closed form.
TEST(TieLaw, prices_and_mfu_at_which_two_chips_cost_the_same_are_found_to_a_thousandth_on_50_pairs) {
  for (std::uint64_t pair = 0; pair < 50; ++pair) {
    const auto draw = [&](std::uint64_t what, double low, double high) {
      return low + (high - low) * random_uniform(pair, RandomPurpose::kTest, what, 0);
    };
    const double price[] = {draw(0, 0.5, 12), draw(1, 0.5, 12)};
    const double mfu[] = {draw(2, 0.1, 0.7), draw(3, 0.1, 0.7)};
    const double peak[] = {draw(4, 100e12, 2500e12), draw(5, 100e12, 2500e12)};
    const double of_second = price[1] / (peak[1] * mfu[1]);
    const double tie_price = of_second * peak[0] * mfu[0], tie_mfu = price[0] / (peak[0] * of_second);

    const auto by_price =
        find_tie([&](double usd) { return usd / (peak[0] * mfu[0]) - of_second; }, 1e-3, 1e4, false);
    ASSERT_TRUE(by_price) << pair;
    EXPECT_NEAR((by_price->below + by_price->above) / 2 / tie_price, 1, 1e-3) << pair;
    const auto by_mfu =
        find_tie([&](double share) { return price[0] / (peak[0] * share) - of_second; }, 1e-4, 1e3, false);
    ASSERT_TRUE(by_mfu) << pair;
    EXPECT_NEAR((by_mfu->below + by_mfu->above) / 2 / tie_mfu, 1, 1e-3) << pair;
  }
}

TEST(Tie, of_whole_numbers_is_between_two_neighbours) {
  const auto tie = find_tie([](double value) { return 40.5 - value; }, 1, 4096, true);
  ASSERT_TRUE(tie);
  EXPECT_EQ(tie->below, 40);
  EXPECT_EQ(tie->above, 41);
}

// A job cannot have any number of sequences.
TEST(Tie, of_whole_numbers_that_not_all_can_be_had_is_between_two_neighbours_that_can) {
  for (const double at : {17.0, 40.5, 104.0, 1500.0, 4095.0}) {
    int asked = 0;
    const auto tie = find_tie(
        [&](double value) -> std::optional<double> {
          ++asked;
          if (static_cast<int>(value) % 16 != 0) return std::nullopt;
          return value - at;
        },
        16, 4096, true);
    ASSERT_TRUE(tie) << at;
    EXPECT_EQ(static_cast<int>(tie->below) % 16, 0) << at;
    EXPECT_EQ(tie->above, tie->below + 16) << at;
    EXPECT_LE(tie->below, at);
    EXPECT_GE(tie->above, at);
    EXPECT_LE(tie->evaluations, 20) << asked;
  }
}

TEST(Tie, is_found_where_two_cross_twice_and_the_ends_have_one_sign) {
  for (const bool whole_numbers : {false, true}) {
    const auto tie =
        find_tie([](double value) { return (value - 1200.5) * (value - 4224.5); }, 512, 8192, whole_numbers);
    ASSERT_TRUE(tie);
    EXPECT_LE(tie->below, 1200.5);
    EXPECT_GE(tie->above, 1200.5);
    EXPECT_LE(tie->above, tie->below * 1.001);
    EXPECT_TRUE(tie->again);
    const auto above = find_tie([](double value) { return (value - 1200.5) * (value - 4224.5); }, tie->above,
                                8192, whole_numbers);
    ASSERT_TRUE(above);
    EXPECT_NEAR(above->below, 4224.5, 5);
    EXPECT_FALSE(above->again);
  }
}

TEST(Tie, is_none_where_one_is_better_at_both_ends) {
  EXPECT_FALSE(find_tie([](double value) { return value + 1; }, 1, 10, false));
  EXPECT_FALSE(find_tie([](double value) { return -value; }, 1, 10, false));
}

}  // namespace
}  // namespace podsim::tie_test
