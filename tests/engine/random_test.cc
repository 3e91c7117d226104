// Rules of the random streams.
#include "engine/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/lognormal.h"

namespace podsim::random_test {
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

// Four units in the last place, two of them of the comparison itself.
TEST(Random, own_logarithms_and_exponentials_are_those_of_the_standard_library_but_for_the_last_bits) {
  for (const double variation : {1e-9, 1e-4, 0.05, 0.5, 0.63, 0.64, 1.0, 30.0}) {
    const Lognormal own(variation);
    const double sigma = std::sqrt(std::log1p(variation * variation)), mu = -0.5 * sigma * sigma;
    for (int i = -1000; i <= 1000; ++i) {
      const double z = 0.01 * i, expected = std::exp(mu + sigma * z);
      ASSERT_NEAR(own(z), expected, 1e-15 * (1 + std::fabs(sigma * z)) * expected)
          << variation << " at " << z;
    }
  }
}

TEST(Random, logarithms_and_exponentials_of_draws_have_the_same_bits_on_every_machine) {
  EXPECT_EQ(portable_log(0.1), -0x1.26bb1bbb55515p+1);
  EXPECT_EQ(portable_log(0.9999), -0x1.a3738d2cf1cc2p-14);
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_log(1e300), 0x1.5963447f87fb5p+9);
  EXPECT_EQ(portable_exp(-0.1), 0x1.cf46d99d52b3ap-1);
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(0.3), 0x1.599058c8c1a96p+0);
  EXPECT_EQ(portable_exp(709), 0x1.d422d2be5dc9cp+1022);
}

TEST(Random, logarithms_and_exponentials_reach_as_far_as_numbers_do) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable_log(0), -infinite);
  EXPECT_EQ(portable_exp(710), infinite);
  EXPECT_EQ(portable_exp(infinite), infinite);
  EXPECT_EQ(portable_exp(-800), 0);
  EXPECT_EQ(portable_exp(-infinite), 0);
  EXPECT_TRUE(std::isnan(portable_exp(std::nan(""))));
  for (double x = -700; x < 709; x += 0.37)
    ASSERT_NEAR(portable_log(portable_exp(x)), x, 1e-13 * (1 + std::fabs(x)));
}

TEST(Random, normal_draws_cut_the_line_where_the_normal_distribution_does) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double u = random_uniform(4, RandomPurpose::kTest, 3, i),
                 x = random_normal(4, RandomPurpose::kTest, 3, i);
    const double tail = std::min(u, 1 - u);
    ASSERT_NEAR(0.5 * std::erfc(std::fabs(x) / std::sqrt(2.0)), tail, 1e-12 * tail);
    ASSERT_EQ(x < 0, u < 0.5);
  }
}

TEST(Random, draws_made_side_by_side_are_those_made_one_by_one) {
  const Lognormal draw(0.3);
  for (std::uint64_t entity = 0; entity < 500; ++entity) {
    std::array<double, Lognormal::kDraws> draws;
    draw.draw(RandomStream(6, RandomPurpose::kTest, entity), 8 * entity, draws);
    for (std::size_t i = 0; i < draws.size(); ++i)
      ASSERT_EQ(draws[i], draw(random_normal(6, RandomPurpose::kTest, entity, 8 * entity + i)));
  }
}

TEST(Random, draws_made_two_at_a_time_are_those_made_one_by_one_whatever_the_processor_can) {
  constexpr double kMu = -0.043, kSigma = 0.29;
  std::array<double, Lognormal::kDraws> p, draws;
  for (std::uint64_t entity = 0; entity < 500; ++entity) {
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = random_uniform(6, RandomPurpose::kTest, entity, i);
    set_lognormals<Pair>(kMu, kSigma, p, draws);
    for (std::size_t i = 0; i < p.size(); ++i)
      ASSERT_EQ(draws[i], exponential(kMu + kSigma * normal_quantile(p[i])));
  }
}

TEST(Random, no_draw_is_less_than_the_least_and_the_least_is_positive) {
  for (const double variation : {0.01, 0.05, 0.3, 2.0}) {
    const Lognormal draw(variation);
    EXPECT_GT(draw.least(), 0.0);
    EXPECT_LT(draw.least(), draw(-8.2)) << "the smallest of 2^53 uniform draws has a normal of -8.29";
    EXPECT_GT(draw.least(), draw(-8.4));
    for (std::uint64_t i = 0; i < 10000; ++i)
      ASSERT_GE(draw(random_normal(7, RandomPurpose::kTest, 0, i)), draw.least());
  }
}

TEST(Random, no_variation_means_exactly_one) { EXPECT_EQ(Lognormal(0)(1.7), 1.0); }

}  // namespace
}  // namespace podsim::random_test
