// Several seeds in a scenario: what is accepted, and what the user is told.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::seeds_test {
namespace {

const std::string kJitter = "adversity { jitter_coefficient_of_variation: 0.05 }\n";

TEST(Seeds, default_to_one) { EXPECT_EQ(load(valid_scenario()).spec->seeds, 1); }

TEST(Seeds, are_accepted_under_jitter) {
  const LoadResult result = load("seeds: 1000\nseed: 3\nsteps: 10000\n" + valid_scenario() + kJitter);
  EXPECT_EQ(problems_of(result), Lines{});
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(result.spec->seeds, 1000);
}

TEST(Seeds, out_of_range_are_refused_where_they_stand) {
  for (const std::string seeds : {"0", "-3", "100001"})
    EXPECT_EQ(problems_of("seeds: " + seeds + "\n" + valid_scenario()),
              Lines{"1:1 seeds must be from 1 to 100,000, not " + seeds});
}

TEST(Seeds, with_more_steps_than_are_kept_are_refused) {
  EXPECT_EQ(problems_of("seeds: 1001\nsteps: 10000\n" + valid_scenario() + kJitter),
            Lines{"1:1 seeds x steps must be at most 10,000,000, not 10,010,000"});
}

TEST(Seeds, without_anything_random_are_told_to_have_no_effect) {
  const LoadResult result = load(valid_scenario(), {{"seeds", "20"}});
  ASSERT_TRUE(result.spec.has_value());
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].message,
            "seeds has no effect: nothing is random, so that all draws are the same");
}

}  // namespace
}  // namespace podsim::seeds_test
