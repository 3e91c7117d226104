// Regularised robust least squares: which values of physical parameters explain measured times best.
#pragma once

#include <vector>

namespace podsim {

// Errors are logarithms of predicted over measured time; parameters are offsets from their starting values in
// units of how far each may plausibly be off, so that an offset of 1 costs as much as one ordinary error.
struct FitProblem {
  std::vector<double> error;               // [row] at the starting values
  std::vector<std::vector<double>> slope;  // [row][parameter] change of the error per unit of offset
  std::vector<double> weight;              // [row] >= 0; 0 leaves the row out
  std::vector<double> scale;               // [row] size of an ordinary error
  // [row] errors of more scales than this count less (Huber); empty: 1 of each
  std::vector<double> linear_beyond = {};
  std::vector<double> low = {}, high = {};  // [parameter] offsets stay between them; empty: anywhere
};

// Minimises  sum over rows of weight x huber(error + slope . offset, s) / scale^2  +  sum of offset^2
// by iteratively reweighted least squares, for errors that are linear in the offsets. s is linear_beyond x
// scale; huber(e, s) = e^2 for |e| <= s, else 2 s |e| - s^2. With bounds it is the least between them, by the
// active set method: what a bound stops is held there, and the others are solved for again. Returns the
// offsets. REQUIRES: all rows of `slope` have the same length; low <= 0 <= high.
std::vector<double> fit_offsets(const FitProblem& problem);

// How sure the offsets are that the fit gives: the inverse of half the curvature of the sum above at these
// offsets, which is the unit matrix without rows. Rows beyond their scale count as less sure. An offset that
// the rows press against its bound varies on one side alone, exponentially: the variance of that is what it
// has at most.
std::vector<std::vector<double>> fit_covariance(const FitProblem& problem,
                                                const std::vector<double>& offsets);

// [parameter] how far the offsets go, about these, when the error of each row falls by so much. REQUIRES: a
// fall per row; `covariance` is that of the fit at these offsets.
std::vector<double> fit_response(const FitProblem& problem, const std::vector<double>& offsets,
                                 const std::vector<std::vector<double>>& covariance,
                                 const std::vector<double>& fall);

// [row] the error at these offsets.
std::vector<double> errors_at(const FitProblem& problem, const std::vector<double>& offsets);

// The sum above for these errors, however they came about. REQUIRES: an error per row.
double fit_cost(const FitProblem& problem, const std::vector<double>& errors,
                const std::vector<double>& offsets);

}  // namespace podsim
