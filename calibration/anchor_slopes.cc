// Takes slopes by simulating.
#include "calibration/anchor_slopes.h"

#include <algorithm>
#include <cmath>

#include "engine/parallel_for.h"
#include "prediction/predict.h"

namespace podsim {
namespace {

// Numbers of a stack move the step without adversities, and it is faster to simulate.
Spec undisturbed(Spec spec) {
  spec.adversities = {};
  spec.seeds = 1;
  return spec;
}

}  // namespace

double log_step(const Spec& spec) {
  PredictOptions options;
  options.memory_advice = false;
  return std::log(predict_step(spec, options).report.step_time.in_seconds());
}

Spec spec_at(const AnchorPriors& priors, bool known, Spec spec, const std::vector<double>& offsets) {
  priors.move(spec.job.stack, offsets, known);
  return spec;
}

OffsetRange stencil(const AnchorPrior& prior, const Stack& stack, double offset, double reach, bool known) {
  const OffsetRange range = prior.range(stack, known);
  return {std::clamp(offset - reach, range.low, range.high),
          std::clamp(offset + reach, range.low, range.high)};
}

std::vector<std::vector<double>> step_slopes(const AnchorPriors& priors, bool known,
                                             const std::vector<const Spec*>& specs,
                                             const std::vector<double>& offsets, double reach, int threads) {
  const std::size_t parameters = offsets.size(), each = 2 * parameters + 1;  // both ends, and the middle
  std::vector<double> time(specs.size() * each, 0);
  const auto ends = [&](const Spec& spec, std::size_t p) {
    return stencil(priors.parameters[p], spec.job.stack, offsets[p], reach, known);
  };
  parallel_for(time.size(), threads, [&](std::size_t i) {
    const Spec& spec = *specs[i / each];
    const std::size_t p = i % each / 2;
    std::vector<double> there = offsets;
    if (p < parameters) {
      const OffsetRange range = ends(spec, p);
      there[p] = i % each % 2 == 0 ? range.low : range.high;
      if (range.low == range.high || there[p] == offsets[p]) return;
    }
    time[i] = log_step(spec_at(priors, known, undisturbed(spec), there));
  });
  std::vector<std::vector<double>> result(specs.size(), std::vector<double>(parameters, 0));
  for (std::size_t s = 0; s < specs.size(); ++s) {
    for (std::size_t p = 0; p < parameters; ++p) {
      const OffsetRange range = ends(*specs[s], p);
      if (range.low == range.high) continue;
      const double middle = time[s * each + 2 * parameters];
      const double low = range.low == offsets[p] ? middle : time[s * each + 2 * p],
                   high = range.high == offsets[p] ? middle : time[s * each + 2 * p + 1];
      result[s][p] = (high - low) / (range.high - range.low);
    }
  }
  return result;
}

}  // namespace podsim
