// The update by measured steps against closed forms.
#include "calibration/anchor_update.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "prediction/family_weights.h"

namespace podsim::anchor_update_test {
namespace {

using Matrix = std::vector<std::vector<double>>;

UpdatedModel linear(const std::vector<double>& errors, const Matrix& slopes, double noise) {
  UpdatedModel model;
  model.parameters = slopes.front().size();
  model.noise.assign(errors.size(), noise);
  model.slopes = [=](const std::vector<double>&, double) { return slopes; };
  model.errors = [=](const std::vector<double>& offsets) {
    std::vector<double> at = errors;
    for (std::size_t run = 0; run < at.size(); ++run)
      for (std::size_t p = 0; p < offsets.size(); ++p) at[run] += slopes[run][p] * offsets[p];
    return at;
  };
  return model;
}

// One run, error e, slopes g: the offsets are -e g / (g.g + s^2), and the variance along g falls from g.g to
// g.g s^2 / (g.g + s^2).
TEST(AnchorUpdate, one_run_moves_parameters_as_the_closed_form_says) {
  const Posterior posterior = update(linear({-0.2}, {{0.1, 0.2}}, 0.05));
  const double along = 0.05, noise = 0.0025;
  EXPECT_NEAR(posterior.offsets[0], 0.2 * 0.1 / (along + noise), 1e-9);
  EXPECT_NEAR(posterior.offsets[1], 0.2 * 0.2 / (along + noise), 1e-9);
  EXPECT_NEAR(variance_along(posterior, {0.1, 0.2}), along * noise / (along + noise), 1e-12);
  EXPECT_NEAR(posterior.after[0], -0.2 * noise / (along + noise), 1e-9);
}

TEST(AnchorUpdate, what_a_run_cannot_tell_stays_as_unsure_as_it_was) {
  const Posterior posterior = update(linear({-0.1}, {{0.1, 0}}, 0.05));
  EXPECT_EQ(posterior.offsets[1], 0);
  EXPECT_NEAR(posterior.covariance[1][1], 1, 1e-12);
  EXPECT_NEAR(variance_along(posterior, {0, 0.3}), 0.09, 1e-12);
}

// n runs that say the same count as n / (1 + (n - 1) r).
TEST(AnchorUpdate, runs_of_one_site_count_as_less_than_as_many_independent_ones) {
  const Posterior posterior = update(linear({0.03, 0.03, 0.03}, {{0.1}, {0.1}, {0.1}}, 0.05));
  const double worth = 3 / (1 + 2 * kFamilyCorrelation);
  EXPECT_NEAR(posterior.covariance[0][0], 1 / (1 + worth * 0.01 / 0.0025), 1e-12);
  EXPECT_NEAR(posterior.offsets[0], -0.03 * 0.1 * worth / (0.0025 + worth * 0.01), 1e-9);
}

TEST(AnchorUpdate, a_measurement_equal_to_the_prediction_moves_nothing_and_makes_it_surer) {
  const Posterior posterior = update(linear({0}, {{0.1, 0.2}}, 0.05));
  EXPECT_EQ(posterior.offsets, (std::vector<double>{0, 0}));
  EXPECT_LT(variance_along(posterior, {0.1, 0.2}), 0.05);
}

// Slope and noise 0.05: half of any error is the offset's.
TEST(AnchorUpdate, one_run_counts_in_full_however_far_it_is_off) {
  for (const double error : {0.18, 0.5, 2.0})
    EXPECT_NEAR(update(linear({error}, {{0.05}}, 0.05)).offsets[0], -error / 0.05 / 2, 1e-9) << error;
}

// In noises, which are the slope: three errors of e0 + x each, of weight w. Where they agree they count in
// full: w 3 (e0 + x) + x = 0. Where one is alone with it, it counts linearly beyond 2: w (2 + 2 x) + x = 0.
TEST(AnchorUpdate, only_runs_that_contradict_a_run_make_it_count_less) {
  const double w = 1 / (1 + 2 * kFamilyCorrelation);
  const Matrix slopes = {{0.05}, {0.05}, {0.05}};
  EXPECT_NEAR(update(linear({0.5, 0.5, 0.5}, slopes, 0.05)).offsets[0], -3 * w * 10 / (3 * w + 1), 1e-6);
  EXPECT_NEAR(update(linear({0.5, 0, 0}, slopes, 0.05)).offsets[0], -2 * w / (2 * w + 1), 1e-6);
}

// Two kernels that are as predicted say nothing against a step that is far off.
TEST(AnchorUpdate, runs_that_tell_of_something_else_contradict_nothing) {
  UpdatedModel model = linear({0.5, 0, 0}, {{0.05, 0, 0}, {0, 0.05, 0}, {0, 0, 0.05}}, 0.05);
  model.tells_of = {"", "gemm_factor", "attention_factor"};
  const double w = 1 / (1 + 2 * kFamilyCorrelation);
  EXPECT_NEAR(update(model).offsets[0], -w * 10 / (w + 1), 1e-6);
}

// One run of slopes g: of a misfit d of it the offsets take g.g / (g.g + s^2) out of the run, and nothing out
// of what feels other numbers.
TEST(AnchorUpdate, a_shared_misfit_is_followed_as_far_as_the_runs_move_a_step) {
  const Posterior posterior = update(linear({-0.2}, {{0.1, 0.2, 0}}, 0.05));
  EXPECT_NEAR(followed_along(posterior, {0.1, 0.2, 0}), 0.05 / (0.05 + 0.0025), 1e-9);
  EXPECT_EQ(followed_along(posterior, {0, 0, 0.3}), 0);
  UpdatedModel kernel = linear({-0.2}, {{0.1, 0.2, 0}}, 0.05);
  kernel.tells_of = {"gemm_factor"};
  EXPECT_EQ(followed_along(update(kernel), {0.1, 0.2, 0}), 0);
}

// exp is not linear: the slopes of the start would leave the error far from zero.
TEST(AnchorUpdate, slopes_follow_the_parameters) {
  UpdatedModel model;
  model.parameters = 1;
  model.noise = {0.01};
  model.errors = [](const std::vector<double>& x) {
    return std::vector<double>{std::log(1 + std::exp(x[0])) - std::log(1 + std::exp(2.0))};
  };
  model.slopes = [](const std::vector<double>& x, double) {
    return Matrix{{std::exp(x[0]) / (1 + std::exp(x[0]))}};
  };
  const Posterior posterior = update(model);
  EXPECT_NEAR(posterior.offsets[0], 2, 0.02);
  EXPECT_NEAR(posterior.after[0], 0, 0.002);
}

// A step whose two parameters add to it as `step` says, with slopes over stencils.
UpdatedModel stencilled(const std::function<double(const std::vector<double>&)>& step, double measured,
                        const std::vector<double>& low) {
  UpdatedModel model;
  model.parameters = low.size();
  model.noise = {0.05};
  model.low = low;
  model.high.assign(low.size(), 1e9);
  model.errors = [=](const std::vector<double>& x) {
    return std::vector<double>{std::log(step(x) / measured)};
  };
  model.slopes = [=](const std::vector<double>& x, double reach) {
    Matrix slopes(1);
    for (std::size_t p = 0; p < x.size(); ++p) {
      std::vector<double> down = x, up = x;
      down[p] = std::max(low[p], x[p] - reach);
      up[p] = x[p] + reach;
      slopes[0].push_back(std::log(step(up) / step(down)) / (up[p] - down[p]));
    }
    return slopes;
  };
  return model;
}

// 1.6 ms beside which 10 ms more are plausible, none less; a rate can be off by 7 %.
double short_step(const std::vector<double>& x) { return 1.6 * std::exp(0.07 * x[1]) + 10 * x[0]; }

TEST(AnchorUpdate, what_a_bound_stops_leaves_the_rest_to_the_others) {
  const Posterior posterior = update(stencilled(short_step, 0.9 * 1.6, {0, -100}));
  EXPECT_EQ(posterior.offsets[0], 0);
  const double error = std::log(0.9), slope = 0.07;
  EXPECT_NEAR(posterior.offsets[1], error * slope / (slope * slope + 0.0025), 0.01);
}

TEST(AnchorUpdate, a_few_percent_move_an_offset_however_little_of_its_spread_they_are) {
  const Posterior posterior = update(stencilled(short_step, 1.02 * 1.6, {0, -100}));
  EXPECT_NEAR(posterior.offsets[0], 0.0032, 0.0003);
  EXPECT_NEAR(posterior.after[0], 0, 0.001);
}

TEST(AnchorUpdate, a_step_lands_between_what_was_predicted_and_what_was_measured_and_grows_with_it) {
  double last = 0;
  for (double factor = 0.7; factor < 1.5; factor += 0.01) {
    const Posterior posterior = update(stencilled(short_step, factor * 1.6, {0, -100}));
    const double step = short_step(posterior.offsets) / 1.6;
    EXPECT_GE(step, std::min(1.0, factor) - 1e-5) << factor;
    EXPECT_LE(step, std::max(1.0, factor) + 1e-5) << factor;
    EXPECT_GE(step, last - 1e-5) << factor;
    last = step;
  }
}

// The longer of two times that run side by side, of which both have to fall.
TEST(AnchorUpdate, times_side_by_side_fall_together) {
  const auto longer = [](const std::vector<double>& x) {
    return std::max(std::exp(0.1 * x[0]), std::exp(0.1 * x[1]));
  };
  const Posterior posterior = update(stencilled(longer, 0.8, {-100, -100}));
  EXPECT_LT(posterior.after[0], 0.08);
  EXPECT_NEAR(posterior.offsets[0], posterior.offsets[1], 0.05);
}

}  // namespace
}  // namespace podsim::anchor_update_test
