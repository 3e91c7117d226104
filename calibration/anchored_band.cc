// Adds up what is left to be unsure of.
#include "calibration/anchored_band.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/order_statistics.h"

namespace podsim {

StepSpread spread_of(const std::optional<StepTimeBand>& band, Time step) {
  if (!band) return {};
  const double s = step.in_seconds();
  return {std::max(0.0, std::log(s / band->low.in_seconds()) / kNormalP90),
          std::max(0.0, std::log(band->high.in_seconds() / s) / kNormalP90)};
}

StepSpread anchored_spread(const Posterior& posterior, const std::vector<double>& slope, double noise,
                           const StepSpread& before) {
  const double held = std::inner_product(slope.begin(), slope.end(), slope.begin(), noise * noise);
  const double left = variance_along(posterior, slope) + noise * noise;
  const double kept = 1 - followed_along(posterior, slope);
  const auto side = [&](double spread) {
    return std::sqrt(left + kept * kept * std::max(0.0, spread * spread - held));
  };
  return {side(before.below), side(before.above)};
}

double beyond_band(double error, const StepSpread& spread) {
  return std::abs(error) / (kNormalP90 * (error > 0 ? spread.below : spread.above));
}

double widening(std::vector<double> beyond) {
  constexpr double kHeld = 0.8;
  if (beyond.empty()) return 1;
  std::ranges::sort(beyond);
  return std::max(1.0, beyond[nearest_rank(beyond.size(), kHeld)]);
}

StepTimeBand anchored_band(Time step, const StepSpread& spread, double widened, int measurements) {
  const double s = step.in_seconds(), half = kNormalP90 * widened;
  return {Time::seconds(s * std::exp(-half * spread.below)), Time::seconds(s * std::exp(half * spread.above)),
          kAnchoredBand, measurements};
}

}  // namespace podsim
