// Linearises, solves between bounds, and looks whether the simulator agrees.
#include "calibration/anchor_update.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "calibration/line_search.h"
#include "calibration/robust_fit.h"
#include "engine/check.h"
#include "engine/order_statistics.h"
#include "prediction/family_weights.h"

namespace podsim {
namespace {

constexpr int kSteps = 16;
// Stencils narrow to a quarter, twice.
constexpr double kNarrower = 0.25, kNarrowest = kWideStencil * kNarrower * kNarrower;
// In noises, and in median errors of the runs that tell of the same. A step that is far off says that the
// site is, rather than that the step is a bad one: over published families, each predicted by one of its
// runs, 2 and more leave less error than 1.
constexpr double kLinearBeyond = 2;
// Of the logarithm of a predicted step: what differs by less is the same.
constexpr double kSettled = 1e-4;
// The same of a step that ends at what was measured.
constexpr double kMet = 1e-6;
// A slope that keeps so much of what it promised needs no narrower stencil.
constexpr double kKept = 0.1;

// [run] nothing of whole steps.
std::vector<std::string> tells_of(const UpdatedModel& model, std::size_t runs) {
  return model.tells_of.empty() ? std::vector<std::string>(runs) : model.tells_of;
}

// [run] in noises: from there on the others show that it is a bad one.
std::vector<double> contradicted_beyond(const UpdatedModel& model, const std::vector<double>& errors) {
  const std::vector<std::string> of = tells_of(model, errors.size());
  std::map<std::string, std::vector<double>> sizes;
  for (std::size_t run = 0; run < errors.size(); ++run)
    sizes[of[run]].push_back(std::abs(errors[run]) / model.noise[run]);
  std::vector<double> beyond;
  for (const std::string& what : of) beyond.push_back(kLinearBeyond * std::max(1.0, median(sizes.at(what))));
  return beyond;
}

class Updating {
 public:
  explicit Updating(const UpdatedModel& model)
      : model_(model), before_(model.errors(std::vector<double>(model.parameters, 0))), at_(start()) {
    const std::size_t runs = before_.size();
    cost_.weight =
        family_weights(std::vector<int>(runs, 0), std::vector<bool>(runs, true), kFamilyCorrelation);
    cost_.scale = model.noise;
    cost_.linear_beyond = contradicted_beyond(model, before_);
    cost_.low = model.low;
    cost_.high = model.high;
  }

  Posterior run() {
    double reach = kWideStencil;
    bool kept = true;
    for (int step = 0; step < kSteps && largest(at_.errors) > kSettled; ++step) {
      const FitProblem problem = linearised(reach);
      const std::vector<double> next = fit_offsets(problem), promised = errors_at(problem, next);
      const double change = largest_difference(promised, at_.errors);
      const bool moved = change > kSettled && go(at_, next, kSettled);
      if (moved) kept = largest_difference(promised, at_.errors) <= kSettled + kKept * change;
      if (moved && kept) continue;
      if (!moved && (kept || reach <= kNarrowest)) break;
      reach = std::max(kNarrowest, kNarrower * reach);
    }
    stay_short_of_measurements();
    FitProblem last = linearised(kWideStencil);
    std::vector<std::vector<double>> covariance = fit_covariance(last, at_.offsets);
    std::vector<double> longer;
    for (const std::string& what : tells_of(model_, before_.size())) longer.push_back(what.empty() ? 1 : 0);
    std::vector<double> followed = fit_response(last, at_.offsets, covariance, longer);
    return {at_.offsets, std::move(covariance), before_,
            at_.errors,  std::move(last.slope), std::move(followed)};
  }

 private:
  TriedPoint start() const { return {std::vector<double>(model_.parameters, 0), before_}; }

  static double largest(const std::vector<double>& errors) {
    return largest_difference(errors, std::vector<double>(errors.size(), 0));
  }

  // Moves the errors to offsets 0 along the slopes.
  FitProblem linearised(double reach) const {
    FitProblem problem = cost_;
    problem.error = at_.errors;
    problem.slope = model_.slopes(at_.offsets, reach);
    for (std::size_t run = 0; run < problem.error.size(); ++run)
      for (std::size_t p = 0; p < model_.parameters; ++p)
        problem.error[run] -= problem.slope[run][p] * at_.offsets[p];
    return problem;
  }

  // Whether any place of the way is better than where it begins.
  bool go(const TriedPoint& from, const std::vector<double>& to, double settled) {
    TriedPoint best = least_on_the_way(cost_, from, to, model_.errors, settled);
    if (best.offsets == from.offsets) return false;
    at_ = std::move(best);
    return true;
  }

  // Offsets that lead beyond a measured step meet it on the way from 0, where they are more probable.
  void stay_short_of_measurements() {
    for (std::size_t run = 0; run < before_.size(); ++run) {
      if (before_[run] * at_.errors[run] >= 0) continue;
      go(start(), std::vector<double>(at_.offsets), kMet);
      return;
    }
  }

  const UpdatedModel& model_;
  FitProblem cost_;  // without errors and slopes
  std::vector<double> before_;
  TriedPoint at_;
};

}  // namespace

Posterior update(const UpdatedModel& model) { return Updating(model).run(); }

double variance_along(const Posterior& posterior, const std::vector<double>& slope) {
  PODSIM_CHECK(slope.size() == posterior.covariance.size(), "a slope for each parameter");
  double variance = 0;
  for (std::size_t p = 0; p < slope.size(); ++p)
    for (std::size_t q = 0; q < slope.size(); ++q)
      variance += slope[p] * posterior.covariance[p][q] * slope[q];
  return variance;
}

double followed_along(const Posterior& posterior, const std::vector<double>& slope) {
  PODSIM_CHECK(slope.size() == posterior.followed.size(), "a slope for each parameter");
  return std::inner_product(slope.begin(), slope.end(), posterior.followed.begin(), 0.0);
}

}  // namespace podsim
