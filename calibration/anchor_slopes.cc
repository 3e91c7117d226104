// Takes slopes by simulating.
#include "calibration/anchor_slopes.h"

#include <algorithm>
#include <cmath>

#include "engine/parallel_for.h"
#include "prediction/predict.h"

namespace podsim {
namespace {

// Slopes are taken over half a spread, away from a bound.
constexpr double kSlopeStep = 0.5;

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

double secant_step(const AnchorPrior& prior, const Stack& stack, double offset, bool known) {
  const auto moves = [&](double step) {
    return std::ranges::any_of(prior.numbers, [&](const StackNumber* number) {
      const double value = number->read(stack);
      const double full =
          prior.adds ? step * prior.spread_of(known) : value * std::expm1(step * prior.spread_of(known));
      const double here = prior.moved(value, offset, known);
      const double moved = prior.moved(value, offset + step, known) - here;
      return std::abs(moved) > 0.9 * std::abs(full) && moved != 0;
    });
  };
  return moves(kSlopeStep) ? kSlopeStep : moves(-kSlopeStep) ? -kSlopeStep : 0;
}

std::vector<std::vector<double>> step_slopes(const AnchorPriors& priors, bool known,
                                             const std::vector<const Spec*>& specs,
                                             const std::vector<double>& offsets, int threads) {
  const std::size_t parameters = offsets.size(), each = parameters + 1;
  std::vector<double> time(specs.size() * each, 0), step(specs.size() * each, 0);
  parallel_for(time.size(), threads, [&](std::size_t i) {
    const Spec& spec = *specs[i / each];
    const std::size_t p = i % each;
    std::vector<double> there = offsets;
    if (p < parameters) {
      step[i] = secant_step(priors.parameters[p], spec.job.stack, offsets[p], known);
      if (step[i] == 0) return;
      there[p] += step[i];
    }
    time[i] = log_step(spec_at(priors, known, undisturbed(spec), there));
  });
  std::vector<std::vector<double>> result(specs.size(), std::vector<double>(parameters, 0));
  for (std::size_t s = 0; s < specs.size(); ++s)
    for (std::size_t p = 0; p < parameters; ++p)
      if (const std::size_t i = s * each + p; step[i] != 0)
        result[s][p] = (time[i] - time[s * each + parameters]) / step[i];
  return result;
}

}  // namespace podsim
