// Ranks and medians against values that can be counted.
#include "engine/order_statistics.h"

#include <gtest/gtest.h>

#include "engine/random.h"

namespace podsim::order_statistics_test {
namespace {

TEST(NearestRank, is_the_least_of_which_so_many_are_no_larger) {
  for (std::size_t count = 1; count <= 200; ++count)
    for (int percent = 0; percent <= 100; percent += 5) {
      const std::size_t rank = nearest_rank(count, percent / 100.0);
      EXPECT_GE(100 * (rank + 1), percent * count) << percent << " % of " << count;
      if (rank > 0) {
        EXPECT_LT(100 * rank, percent * count) << percent << " % of " << count;
      }
      EXPECT_LT(rank, count);
    }
}

TEST(Median, has_as_many_values_below_as_above) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({9, 1, 4, 2}), 3);
}

TEST(NormalP90, is_that_of_what_streams_draw) {
  const RandomStream stream(7, RandomPurpose::kTest, 0);
  int below = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) below += stream.normal(static_cast<std::uint64_t>(i)) < kNormalP90;
  EXPECT_NEAR(below, 0.9 * kDraws, 5 * 95) << "five standard deviations of a binomial";
}

}  // namespace
}  // namespace podsim::order_statistics_test
