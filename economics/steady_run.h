// A whole training run at the speed of one step, in which nothing fails: days, energy, dollars and carbon.
#pragma once

#include <optional>

#include "scheduler/question/carbon.h"
#include "scheduler/question/price.h"

namespace podsim {

// What the step of a cluster comes to.
struct SteadyStep {
  double chips = 0;  // that are paid for
  double tokens_per_s = 0;
  double j_per_token = 0;  // at the meter
};

struct SteadyRun {
  double days = 0, mwh = 0;
  double usd = 0;  // of chips with the rest of their minimum term, and of energy that is paid by the kWh
  std::optional<double> carbon_t;  // tonnes of CO2e, where a grid is known
};

// REQUIRES: tokens > 0; step.tokens_per_s > 0.
SteadyRun steady_run(const SteadyStep& step, double tokens, const Price& price,
                     const std::optional<Carbon>& carbon = std::nullopt);

}  // namespace podsim
