// Laws of the robust fit.
#include "calibration/robust_fit.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace podsim::robust_fit_test
