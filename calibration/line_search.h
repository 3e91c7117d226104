// How far to go on the straight way between two points, where each look at a point is a simulation.
#pragma once

#include <functional>
#include <vector>

#include "calibration/robust_fit.h"

namespace podsim {

// Offsets and the errors there.
struct TriedPoint {
  std::vector<double> offsets, errors;
};

// [row] the error at these offsets, however it comes about.
using ErrorsAt = std::function<std::vector<double>(const std::vector<double>& offsets)>;

// The largest difference of two lists.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b);

// Between what was tried, errors are taken for linear; the least of the cost of `problem` under that is tried
// next, until it has been tried, as far as errors can tell by more than `settled`. Where errors are
// continuous and one row goes through zero on the way, that place is found. Returns the best point of the
// way, which is `from` where nothing is better. REQUIRES: settled > 0.
TriedPoint least_on_the_way(const FitProblem& problem, const TriedPoint& from, const std::vector<double>& to,
                            const ErrorsAt& errors_at, double settled);

}  // namespace podsim
