// What a step really takes over what was predicted, as a distribution.
#pragma once

#include <cstdint>

#include "engine/order_statistics.h"
#include "engine/random.h"
#include "report/answer/report.h"

namespace podsim {

// The measured time of a step over the predicted one, lognormal: its 10th and 90th percentile are the ends of
// the error band. Draws of a seed are the same for every question, so that two clusters can be compared;
// those of another entity are independent.
class StepError {
 public:
  StepError() = default;  // always 1
  StepError(const StepTimeBand& band, double step_s) {
    const double low = portable_log(band.low.in_seconds() / step_s);
    const double high = portable_log(band.high.in_seconds() / step_s);
    mean_ = (low + high) / 2;
    deviation_ = (high - low) / 2 / kNormalP90;
  }
  double operator()(std::uint64_t seed, std::uint64_t entity) const {
    return portable_exp(mean_ + deviation_ * random_normal(seed, RandomPurpose::kStepError, entity, 0));
  }
  double median() const { return portable_exp(mean_); }
  double quantile10() const { return portable_exp(mean_ - deviation_ * kNormalP90); }
  double quantile90() const { return portable_exp(mean_ + deviation_ * kNormalP90); }

 private:
  double mean_ = 0, deviation_ = 0;
};

}  // namespace podsim
