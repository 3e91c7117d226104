// Rules of the random streams.
#include "engine/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podsim {
namespace {

TEST(Random, the_same_coordinates_give_the_same_bits_for_ever) {
  EXPECT_EQ(random_bits(1, RandomPurpose::kJitter, 2, 3), random_bits(1, RandomPurpose::kJitter, 2, 3));
  EXPECT_NE(random_bits(1, RandomPurpose::kJitter, 2, 3), random_bits(1, RandomPurpose::kJitter, 3, 2));
  EXPECT_NE(random_bits(1, RandomPurpose::kJitter, 2, 3), random_bits(1, RandomPurpose::kTest, 2, 3));
}

TEST(Random, uniform_draws_have_the_moments_of_the_unit_interval) {
  double sum = 0, squares = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    double u = random_uniform(7, RandomPurpose::kTest, 0, i);
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / n, 0.5, 4 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / n));
}

TEST(Random, normal_draws_have_mean_0_and_variance_1) {
  double sum = 0, squares = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    double x = random_normal(7, RandomPurpose::kTest, 1, i);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 4 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 4 * std::sqrt(2.0 / n));
}

TEST(Random, a_lognormal_draw_has_mean_1_and_the_given_variation) {
  Lognormal draw(0.2);
  double sum = 0, squares = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    double x = draw(random_normal(9, RandomPurpose::kTest, 2, i));
    ASSERT_GT(x, 0);
    sum += x;
    squares += x * x;
  }
  double mean = sum / n;
  EXPECT_NEAR(mean, 1, 4 * 0.2 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean), 0.2, 0.003);
}

TEST(Random, no_variation_means_exactly_one) { EXPECT_EQ(Lognormal(0)(1.7), 1.0); }

}  // namespace
}  // namespace podsim
