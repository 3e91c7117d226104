// Bayesian update of parameters by measured steps: where a few measurements leave what was held true before,
// and how sure it is then.
#pragma once

#include <functional>
#include <vector>

namespace podsim {

// What predicts the measured steps: the simulator, or a formula in its place. Parameters are offsets in
// spreads: before any measurement they are independent and normal, with mean 0 and variance 1.
struct UpdatedModel {
  std::function<std::vector<double>(const std::vector<double>& offsets)>
      errors;  // [run] log(predicted / measured)
  std::function<std::vector<std::vector<double>>(const std::vector<double>& offsets)>
      slopes;                 // [run][parameter] change of the error per unit of offset
  std::vector<double> noise;  // [run] size of an ordinary error when all numbers are right
  std::size_t parameters = 0;
};

struct Posterior {
  std::vector<double> offsets;                  // the most probable ones
  std::vector<std::vector<double>> covariance;  // around them; the unit matrix without measurements
  std::vector<double> before, after;            // [run] the error at offsets 0 and at these
};

// Gauss-Newton on the cost of calibration/robust_fit.h: errors beyond twice the noise count linearly, and n
// runs of one site, whose errors are alike, as n / (1 + (n - 1) x correlation) (prediction/family_weights.h).
// A step that would raise the cost is halved. Deterministic.
Posterior update(const UpdatedModel& model);

// Variance of slope . offsets. REQUIRES: a slope per parameter.
double variance_along(const Posterior& posterior, const std::vector<double>& slope);

}  // namespace podsim
