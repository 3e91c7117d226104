// Bayesian update of parameters by measured steps: where a few measurements leave what was held true before,
// and how sure it is then.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace podsim {

// How far slopes reach to either side, in spreads, where steps keep what they promise: of two times side by
// side the shorter one is not felt at once, and where one takes over from the other there are two slopes.
inline constexpr double kWideStencil = 0.5;

// What predicts the measured steps: the simulator, or a formula in its place. Parameters are offsets in
// spreads: before any measurement they are independent and normal, with mean 0 and variance 1.
struct UpdatedModel {
  std::function<std::vector<double>(const std::vector<double>& offsets)>
      errors;  // [run] log(predicted / measured)
  // [run][parameter] change of the error per unit of offset, over so many spreads to either side.
  std::function<std::vector<std::vector<double>>(const std::vector<double>& offsets, double reach)> slopes;
  std::vector<double> noise;  // [run] size of an ordinary error when all numbers are right
  // [run] the one number that it tells of; nothing of a whole step. Empty: all are of whole steps.
  std::vector<std::string> tells_of;
  std::vector<double> low, high;  // [parameter] where its numbers are at their bounds; empty: nowhere
  std::size_t parameters = 0;
};

struct Posterior {
  std::vector<double> offsets;                  // the most probable ones, between low and high
  std::vector<std::vector<double>> covariance;  // around them; the unit matrix without measurements
  std::vector<double> before, after;            // [run] the error at offsets 0 and at these
  std::vector<std::vector<double>> slopes;      // [run][parameter] of the error at these
  // [parameter] how far it goes when the logarithm of every measured whole step grows by one.
  std::vector<double> followed;
};

// The least of the cost of calibration/robust_fit.h, where n runs of one site, whose errors are alike, count
// as n / (1 + (n - 1) x correlation) (prediction/family_weights.h). Errors count linearly that are beyond
// twice the noise and beyond twice what runs that tell of the same are off in the median before: only others
// show that a run is a bad one, so that one or two count in full however far they are off.
//
// Gauss-Newton between bounds, with slopes over stencils that narrow where steps do not keep what slopes
// promised (implicit filtering, Kelley 2011). A step goes as far along its way as the cost falls, and ends
// when no predicted step would move by more than 0.01 %. So one run's prediction lands between what it was
// before and what was measured, where the error is continuous. Deterministic. REQUIRES: low <= 0 <= high.
Posterior update(const UpdatedModel& model);

// Variance of slope . offsets. REQUIRES: a slope per parameter.
double variance_along(const Posterior& posterior, const std::vector<double>& slope);

// Of a misfit that all measured whole steps share, the share that the offsets take out of a step that feels
// them so. REQUIRES: as above.
double followed_along(const Posterior& posterior, const std::vector<double>& slope);

}  // namespace podsim
