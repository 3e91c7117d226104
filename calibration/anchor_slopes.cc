// Takes slopes by simulating.
#include "calibration/anchor_slopes.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/parallel_for.h"
#include "prediction/predict.h"

namespace podsim {
namespace {

// Slopes are taken over half a spread, away from a bound; where the step feels that more than a tenth, over
// an eighth of it, and so on.
constexpr double kSlopeStep = 0.5;
constexpr double kMostFelt = 0.1, kFiner = 8;
constexpr int kFinest = 5;

// Numbers of a stack move the step without adversities, and it is faster to simulate.
Spec undisturbed(Spec spec) {
  spec.adversities = {};
  spec.seeds = 1;
  return spec;
}

// `felt` is the change over `by`. A change that stays however small the step is a jump and no slope: nothing
// in between can be had, so that it explains no measured step.
double local_slope(double felt, double by, const std::function<double(double)>& moved_by) {
  for (int finer = 0; std::abs(felt) > kMostFelt; ++finer) {
    if (finer == kFinest) return 0;
    by /= kFiner;
    felt = moved_by(by);
  }
  return felt / by;
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
  parallel_for(specs.size() * parameters, threads, [&](std::size_t k) {
    const std::size_t s = k / parameters, p = k % parameters, i = s * each + p;
    if (step[i] == 0) return;
    const double here = time[s * each + parameters];
    const auto moved_by = [&](double by) {
      std::vector<double> there = offsets;
      there[p] += by;
      return log_step(spec_at(priors, known, undisturbed(*specs[s]), there)) - here;
    };
    result[s][p] = local_slope(time[i] - here, step[i], moved_by);
  });
  return result;
}

}  // namespace podsim
