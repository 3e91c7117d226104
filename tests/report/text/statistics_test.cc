// Confidence intervals against tables and by trial.
#include "report/text/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/random.h"

namespace podsim::statistics_test {
namespace {

constexpr double kFourDigits = 5e-5;

TEST(StudentT, equals_the_table) {
  // 95 % and 99 %, two-sided, as printed in any table.
  EXPECT_NEAR(student_t(1, 0.95), 12.7062, kFourDigits);
  EXPECT_NEAR(student_t(4, 0.95), 2.7764, kFourDigits);
  EXPECT_NEAR(student_t(9, 0.95), 2.2622, kFourDigits);
  EXPECT_NEAR(student_t(30, 0.99), 2.7500, kFourDigits);
  EXPECT_NEAR(student_t(1'000'000, 0.95), 1.9600, kFourDigits) << "the normal distribution";
}

TEST(StudentT, of_one_and_two_degrees_has_closed_forms) {
  EXPECT_NEAR(student_t(1, 0.95), std::tan(0.95 * std::acos(-1.0) / 2), 1e-11);
  const double c = 0.95;
  EXPECT_NEAR(student_t(2, c), c * std::sqrt(2 / (1 - c * c)), 1e-12);
}

// P(at most k of n), by adding up.
double binomial(int n, double p, int k) {
  double sum = 0;
  for (int i = 0; i <= k; ++i) {
    double term = 1;
    for (int j = 0; j < i; ++j) term *= p * (n - j) / (i - j);
    for (int j = i; j < n; ++j) term *= 1 - p;
    sum += term;
  }
  return sum;
}

TEST(QuantileRanks, of_a_hundred_values_around_the_median_are_40_and_61) {
  EXPECT_EQ(quantile_ranks(100, 0.5, 0.95), (Ranks{40, 61}));
}

TEST(QuantileRanks, are_the_narrowest_that_leave_at_most_half_of_the_doubt_on_either_side) {
  for (const double share : {0.5, 0.9, 0.25}) {
    for (int n = 1; n <= 60; ++n) {
      const auto ranks = quantile_ranks(n, share, 0.95);
      const bool low = binomial(n, share, 0) <= 0.025, high = 1 - binomial(n, share, n - 1) <= 0.025;
      ASSERT_EQ(ranks.has_value(), low && high) << n;
      if (!ranks) continue;
      const int l = static_cast<int>(ranks->low), u = static_cast<int>(ranks->high);
      EXPECT_LE(binomial(n, share, l - 1), 0.025);
      EXPECT_GT(binomial(n, share, l), 0.025);
      EXPECT_LE(1 - binomial(n, share, u - 1), 0.025);
      EXPECT_GT(1 - binomial(n, share, u - 2), 0.025);
    }
  }
}

TEST(QuantileRanks, of_the_median_need_6_values_and_of_the_99th_percentile_368) {
  EXPECT_FALSE(quantile_ranks(5, 0.5, 0.95));
  EXPECT_EQ(quantile_ranks(6, 0.5, 0.95), (Ranks{1, 6}));
  EXPECT_FALSE(quantile_ranks(367, 0.99, 0.95));
  ASSERT_TRUE(quantile_ranks(368, 0.99, 0.95));
  EXPECT_EQ(quantile_ranks(368, 0.99, 0.95)->high, 368);
}

TEST(MeanHalfWidth, of_equal_batches_is_t_s_over_the_root_of_their_number) {
  // Values 1, 2, 3, 4, 5: s = sqrt(2.5), t(4) = 2.7764.
  const std::vector<Batch> singles = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}};
  EXPECT_NEAR(mean_half_width(singles, 0.95), 2.7764 * std::sqrt(2.5 / 5), kFourDigits);
  const std::vector<Batch> tens = {{10, 10}, {20, 10}, {30, 10}, {40, 10}, {50, 10}};
  EXPECT_NEAR(mean_half_width(tens, 0.95), mean_half_width(singles, 0.95), 1e-12)
      << "values of a batch may all be the same: they count once";
}

TEST(MeanHalfWidth, of_equal_means_is_zero_whatever_the_sizes) {
  EXPECT_NEAR(mean_half_width(std::vector<Batch>{{2, 1}, {6, 3}, {14, 7}}, 0.95), 0, 1e-12);
}

TEST(MeanHalfWidth, of_unequal_batches_weighs_them_by_their_counts) {
  // Mean 22 / 4 = 5.5; excesses 5 - 5.5, 17 - 16.5: variance of the sum 2 x (0.25 + 0.25), over 4.
  EXPECT_NEAR(mean_half_width(std::vector<Batch>{{5, 1}, {17, 3}}, 0.95), 12.7062 * 1 / 4.0, kFourDigits);
}

double normal(std::uint64_t trial, std::uint64_t index) {
  return random_normal(11, RandomPurpose::kTest, trial, index);
}

TEST(Intervals, hold_what_they_promise) {
  // 2,000 trials of 20 lognormal values: an interval of 95 % misses about 100 times. Student's t is exact for
  // normal values, and the ranks for any.
  constexpr int kTrials = 2000, kValues = 20;
  int mean_missed = 0, median_missed = 0;
  const Ranks ranks = *quantile_ranks(kValues, 0.5, 0.95);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    std::vector<Batch> batches;
    for (int i = 0; i < kValues; ++i) {
      values.push_back(std::exp(normal(trial, i)));
      batches.push_back({normal(trial, i), 1});
    }
    double mean = 0;
    for (const Batch& batch : batches) mean += batch.sum / kValues;
    if (std::abs(mean) > mean_half_width(batches, 0.95)) ++mean_missed;
    std::sort(values.begin(), values.end());
    if (values[ranks.low - 1] > 1 || values[ranks.high - 1] < 1) ++median_missed;
  }
  const double spread = 4 * std::sqrt(kTrials * 0.05 * 0.95);  // four standard deviations
  EXPECT_NEAR(mean_missed, 0.05 * kTrials, spread);
  EXPECT_LE(median_missed, 0.05 * kTrials + spread);
}

}  // namespace
}  // namespace podsim::statistics_test
