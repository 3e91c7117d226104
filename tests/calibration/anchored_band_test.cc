// Bands of anchored steps against closed forms.
#include "calibration/anchored_band.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/order_statistics.h"

namespace podsim::anchored_band_test {
namespace {

constexpr double kNoise = 0.06;
const std::vector<double> kSlope = {0.05, 0, 0.02};

// One run of the step with these slopes itself, off by `error` before, with so much noise.
Posterior measured(double error, double noise) {
  UpdatedModel model;
  model.parameters = kSlope.size();
  model.noise = {noise};
  model.slopes = [](const std::vector<double>&, double) { return std::vector<std::vector<double>>{kSlope}; };
  model.errors = [=](const std::vector<double>& x) {
    return std::vector<double>{error + kSlope[0] * x[0] + kSlope[2] * x[2]};
  };
  return update(model);
}

double squared(double x) { return x * x; }

const double kHeld = 0.0025 + 0.0004;  // of the numbers

TEST(AnchoredBand, a_measurement_of_no_weight_leaves_the_spread_as_it_was) {
  const StepSpread spread = anchored_spread(measured(0.2, 1e6), kSlope, kNoise, {0.13, 0.15});
  EXPECT_NEAR(spread.below, 0.13, 1e-9);
  EXPECT_NEAR(spread.above, 0.15, 1e-9);
}

// Of s0^2 the numbers hold g.g and noise^2; a run takes k = g.g / (g.g + noise^2) of a shared misfit out of
// its own step, and leaves k noise^2 of the numbers.
TEST(AnchoredBand, a_measured_step_takes_from_the_spread_what_it_moves) {
  const double k = kHeld / (kHeld + squared(kNoise)), before = 0.135;
  const StepSpread spread = anchored_spread(measured(0, kNoise), kSlope, kNoise, {before, before});
  const double excess = squared(before) - kHeld - squared(kNoise);
  EXPECT_NEAR(squared(spread.above), (1 + k) * squared(kNoise) + squared(1 - k) * excess, 1e-12);
  EXPECT_LT(spread.above, before);
}

TEST(AnchoredBand, a_step_that_feels_nothing_of_what_was_learned_is_as_unsure_as_before) {
  const StepSpread spread = anchored_spread(measured(0.1, kNoise), {0, 0.07, 0}, kNoise, {0.135, 0.135});
  EXPECT_NEAR(spread.below, 0.135, 1e-12);
}

TEST(AnchoredBand, more_noise_of_a_measurement_leaves_a_wider_spread) {
  double last = 0;
  for (const double noise : {0.01, 0.03, 0.06, 0.2, 1.0}) {
    const double above = anchored_spread(measured(0.1, noise), kSlope, kNoise, {0.135, 0.135}).above;
    EXPECT_GT(above, last) << noise;
    last = above;
  }
}

TEST(AnchoredBand, the_band_of_a_single_measured_step_holds_it) {
  for (const double error : {-2.0, -0.3, -0.1, 0.0, 0.1, 0.3, 2.0}) {
    const Posterior posterior = measured(error, kNoise);
    const StepSpread spread = anchored_spread(posterior, kSlope, kNoise, {0.135, 0.135});
    const double after = posterior.after[0], widened = widening({beyond_band(after, spread)});
    const StepTimeBand band = anchored_band(Time::seconds(1), spread, widened, 1);
    EXPECT_LE(band.low.in_seconds(), std::exp(-after) * (1 + 1e-9)) << error;
    EXPECT_GE(band.high.in_seconds(), std::exp(-after) * (1 - 1e-9)) << error;
  }
}

TEST(AnchoredBand, bands_widen_until_eight_in_ten_measured_steps_lie_in_theirs) {
  EXPECT_EQ(widening({}), 1);
  EXPECT_EQ(widening({0.2, 0.9}), 1);
  EXPECT_EQ(widening({1.5}), 1.5);
  EXPECT_EQ(widening({1.2, 0.1, 1.1, 9, 0.3}), 1.2);
}

TEST(AnchoredBand, the_spread_of_a_band_is_of_both_sides) {
  const double up = std::exp(0.1 * kNormalP90), down = std::exp(-0.2 * kNormalP90);
  const StepTimeBand band = {Time::seconds(2 * down), Time::seconds(2 * up), "new stack", 3};
  EXPECT_NEAR(spread_of(band, Time::seconds(2)).below, 0.2, 1e-9);
  EXPECT_NEAR(spread_of(band, Time::seconds(2)).above, 0.1, 1e-9);
  EXPECT_EQ(spread_of(band, Time::seconds(4)).above, 0) << "the band lies below the step";
  EXPECT_EQ(spread_of(std::nullopt, Time::seconds(1)).below, 0);
}

}  // namespace
}  // namespace podsim::anchored_band_test
