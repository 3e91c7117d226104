// Laws of the robust fit.
#include "calibration/robust_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace podsim::robust_fit_test {
namespace {

TEST(RobustFit, without_rows_every_parameter_stays_at_its_start) {
  FitProblem problem;
  problem.error = {0.3};
  problem.slope = {{0.1, -0.2}};
  problem.weight = {0};
  problem.scale = {0.05};
  EXPECT_EQ(fit_offsets(problem), (std::vector<double>{0, 0}));
}

// One row, one parameter: minimise ((e + g x) / s)^2 + x^2, so x = -e g / (g^2 + s^2).
TEST(RobustFit, one_small_error_is_shared_between_the_row_and_the_parameter) {
  FitProblem problem;
  problem.error = {0.02};
  problem.slope = {{0.1}};
  problem.weight = {1};
  problem.scale = {0.05};
  EXPECT_NEAR(fit_offsets(problem)[0], -0.02 * 0.1 / (0.1 * 0.1 + 0.05 * 0.05), 1e-9);
}

TEST(RobustFit, one_wild_row_does_not_pull_the_others_off) {
  FitProblem problem;
  for (int row = 0; row < 20; ++row) problem.error.push_back(0.01);
  problem.error.push_back(2);
  problem.slope.assign(21, {0.1});
  problem.weight.assign(21, 1);
  problem.scale.assign(21, 0.05);
  const std::vector<double> offsets = fit_offsets(problem);
  const double ordinary = errors_at(problem, offsets)[0];
  EXPECT_LT(std::abs(ordinary), 0.01) << "least squares would shift it by -0.1";
}

// By hand, scale 0.05: a row at 0.05 costs 1, one at 0.15 costs 2 x 3 - 1 = 5 at weight 2, an offset of 3
// costs 9.
TEST(RobustFit, the_cost_is_the_sum_that_the_fit_minimises) {
  FitProblem problem;
  problem.weight = {1, 2, 0};
  problem.scale.assign(3, 0.05);
  EXPECT_NEAR(fit_cost(problem, {0.05, -0.15, 7}, {3}), 1 + 10 + 9, 1e-12);
}

TEST(RobustFit, no_other_offset_costs_less_than_the_fitted_one) {
  FitProblem problem;
  problem.error = {0.08, 0.02, -0.3};
  problem.slope = {{0.1}, {0.05}, {0.02}};
  problem.weight = {1, 0.5, 1};
  problem.scale = {0.05, 0.05, 0.15};
  const std::vector<double> fitted = fit_offsets(problem);
  const double least = fit_cost(problem, errors_at(problem, fitted), fitted);
  for (const double step : {-0.1, -0.01, 0.01, 0.1}) {
    const std::vector<double> other = {fitted[0] + step};
    EXPECT_GT(fit_cost(problem, errors_at(problem, other), other), least);
  }
}

TEST(RobustFit, more_weight_brings_a_row_closer) {
  FitProblem problem;
  problem.error = {0.02, -0.01};
  problem.slope = {{0.1}, {0.1}};
  problem.weight = {1, 1};
  problem.scale = {0.05, 0.05};
  const double before = std::abs(errors_at(problem, fit_offsets(problem))[0]);
  problem.weight = {10, 1};
  EXPECT_LT(std::abs(errors_at(problem, fit_offsets(problem))[0]), before);
}

TEST(RobustFit, a_row_that_is_known_to_err_more_pulls_less) {
  FitProblem problem;
  problem.error = {0.02, -0.02};
  problem.slope = {{0.1}, {0.1}};
  problem.weight = {1, 1};
  problem.scale = {0.05, 0.05};
  EXPECT_NEAR(fit_offsets(problem)[0], 0, 1e-9);
  problem.scale = {0.05, 0.15};
  EXPECT_LT(fit_offsets(problem)[0], -0.05) << "towards the first row";
}

// Both parameters feel alike, and the first cannot go down: the second does it alone.
TEST(RobustFit, what_a_bound_stops_is_held_there_and_the_others_are_solved_for_again) {
  FitProblem problem;
  problem.error = {0.08};
  problem.slope = {{0.1, 0.1}};
  problem.weight = {1};
  problem.scale = {0.05};
  problem.low = {0, -100};
  problem.high = {100, 100};
  const std::vector<double> offsets = fit_offsets(problem);
  EXPECT_EQ(offsets[0], 0);
  EXPECT_NEAR(offsets[1], -0.08 * 0.1 / (0.1 * 0.1 + 0.05 * 0.05), 1e-9);
}

TEST(RobustFit, no_other_offsets_between_the_bounds_cost_less) {
  constexpr std::size_t kParameters = 5;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 draw(seed);
    const auto share = [&] { return static_cast<double>(draw() >> 11) / 9007199254740992.0; };
    const auto within = [&](double most) { return most * (2 * share() - 1); };
    FitProblem problem;
    for (int row = 0; row < 3; ++row) {
      problem.error.push_back(within(0.3));
      problem.slope.emplace_back();
      for (std::size_t p = 0; p < kParameters; ++p) problem.slope.back().push_back(within(0.5));
      problem.weight.push_back(1);
      problem.scale.push_back(0.05);
    }
    for (std::size_t p = 0; p < kParameters; ++p) {
      problem.low.push_back(-0.3 * share());
      problem.high.push_back(p == 0 ? 0 : 0.3 * share());
    }
    const std::vector<double> fitted = fit_offsets(problem);
    const double least = fit_cost(problem, errors_at(problem, fitted), fitted);
    for (std::size_t p = 0; p < kParameters; ++p) {
      ASSERT_GE(fitted[p], problem.low[p]) << seed;
      ASSERT_LE(fitted[p], problem.high[p]) << seed;
      for (const double step : {-0.1, -0.001, 0.001, 0.1}) {
        std::vector<double> other = fitted;
        other[p] = std::clamp(other[p] + step, problem.low[p], problem.high[p]);
        EXPECT_GE(fit_cost(problem, errors_at(problem, other), other), least - 1e-6) << seed << " " << p;
      }
    }
  }
}

// By hand: the second goes to -0.64 and leaves 0.016, which presses the first with 0.016 x 2 / 0.05^2 = 12.8.
// So its curvature is 1 + 2^2 / 0.05^2 + 12.8^2 = 1764.84, and the variance of the second 1 / (5 - 80^2 /
// that).
TEST(RobustFit, an_offset_pressed_against_its_bound_takes_less_from_what_rows_tell_of_others) {
  FitProblem problem;
  problem.error = {0.08};
  problem.slope = {{2, 0.1}};
  problem.weight = {1};
  problem.scale = {0.05};
  const double free_of_bounds = fit_covariance(problem, fit_offsets(problem))[1][1];
  problem.low = {0, -100};
  problem.high = {100, 100};
  const auto covariance = fit_covariance(problem, fit_offsets(problem));
  EXPECT_GT(free_of_bounds, 0.99);
  EXPECT_NEAR(covariance[1][1], 1 / (5 - 6400 / 1764.84), 1e-6);
  EXPECT_LT(covariance[0][0], 0.01);
}

}  // namespace
}  // namespace podsim::robust_fit_test
