// Linearises, solves, and looks whether the simulator agrees.
#include "calibration/anchor_update.h"

#include <algorithm>
#include <cmath>

#include "calibration/robust_fit.h"
#include "engine/check.h"
#include "prediction/family_weights.h"

namespace podsim {
namespace {

constexpr int kSteps = 6;
constexpr int kHalvings = 4;
// A step that is far off says that the site is, rather than that the step is a bad one: over published
// families, each predicted by one of its runs, 2 and more leave less error than 1.
constexpr double kLinearBeyond = 2;
constexpr double kSettled = 0.02;  // offsets that differ by less are the same

double largest(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  for (std::size_t p = 0; p < a.size(); ++p) difference = std::max(difference, std::abs(a[p] - b[p]));
  return difference;
}

// Moves the errors to offsets 0 along the slopes.
FitProblem linearised(const UpdatedModel& model, const std::vector<double>& offsets,
                      const std::vector<double>& errors) {
  const std::size_t runs = errors.size();
  FitProblem problem{
      errors, model.slopes(offsets),
      family_weights(std::vector<int>(runs, 0), std::vector<bool>(runs, true), kFamilyCorrelation),
      model.noise, kLinearBeyond};
  for (std::size_t run = 0; run < runs; ++run)
    for (std::size_t p = 0; p < offsets.size(); ++p) problem.error[run] -= problem.slope[run][p] * offsets[p];
  return problem;
}

}  // namespace

Posterior update(const UpdatedModel& model) {
  Posterior result;
  result.offsets.assign(model.parameters, 0);
  result.before = model.errors(result.offsets);
  result.after = result.before;
  FitProblem problem = linearised(model, result.offsets, result.after);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> next = fit_offsets(problem);
    if (largest(next, result.offsets) < kSettled) break;
    const double cost = fit_cost(problem, result.after, result.offsets);
    std::vector<double> errors = model.errors(next);
    for (int halving = 0; halving < kHalvings && fit_cost(problem, errors, next) > cost; ++halving) {
      for (std::size_t p = 0; p < next.size(); ++p) next[p] = (next[p] + result.offsets[p]) / 2;
      errors = model.errors(next);
    }
    if (fit_cost(problem, errors, next) > cost) break;
    result.offsets = std::move(next);
    result.after = std::move(errors);
    problem = linearised(model, result.offsets, result.after);
  }
  result.covariance = fit_covariance(problem, result.offsets);
  return result;
}

double variance_along(const Posterior& posterior, const std::vector<double>& slope) {
  PODSIM_CHECK(slope.size() == posterior.covariance.size(), "a slope for each parameter");
  double variance = 0;
  for (std::size_t p = 0; p < slope.size(); ++p)
    for (std::size_t q = 0; q < slope.size(); ++q)
      variance += slope[p] * posterior.covariance[p][q] * slope[q];
  return variance;
}

}  // namespace podsim
