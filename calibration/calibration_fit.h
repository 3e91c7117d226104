// Fits the parameters of a calibration to rows of measurements, with any of the rows left out.
#pragma once

#include <string>
#include <vector>

#include "prediction/family_weights.h"

namespace podsim {

// Errors of some rows at some offsets of the parameters.
struct FitQuestion {
  std::vector<double> offsets;  // [parameter] in spreads; all 0 = what is held true before
  std::vector<bool> wanted;     // [row]
};

// What is fitted: the simulator, or a formula in its place.
class FittedModel {
 public:
  virtual ~FittedModel() = default;
  virtual std::size_t parameters() const = 0;
  // [row] the family of each: rows of one source err alike.
  virtual const std::vector<int>& families() const = 0;
  // [row] size of an ordinary error of it; what exceeds it counts less (calibration/robust_fit.h).
  virtual const std::vector<double>& scales() const = 0;
  // [row] whether it may be fitted; the others are only predicted, and cost no slopes.
  virtual const std::vector<bool>& fitted() const = 0;
  // By how much an offset of 1 moves each number that the row reads, to first order: all 0 where the
  // parameter cannot change the row. The same length for all parameters of a row.
  virtual std::vector<double> effect(std::size_t parameter, std::size_t row) const = 0;
  // [question][row] log(predicted / measured); 0 where it is not wanted.
  virtual std::vector<std::vector<double>> log_errors(const std::vector<FitQuestion>& questions) const = 0;
};

struct FitSettings {
  double family_correlation = kFamilyCorrelation;
  int rounds = 2;           // simulations of the fit of all rows, at most; each corrects the linear fit
  int left_out_rounds = 0;  // the same of fits that leave rows out, before those are simulated
};

struct Fitted {
  std::vector<double> offsets;
  std::vector<double> log_error;  // [row] simulated at these offsets
  double cost = 0;                // what the fit minimises
};

// The correlation of errors within families that these errors show (one-way analysis of variance), 0 to 1;
// 0 where fewer than two families or no family of two rows are there.
double family_correlation(const std::vector<int>& families, const std::vector<double>& errors);

// Fits, again and again with other rows left out. Slopes are taken once, at offsets 0, where nothing is
// fitted, and corrected by what each fit simulates: no measured time of a row that a fit leaves out has any
// influence on it. Deterministic.
class Calibrator {
 public:
  Calibrator(const FittedModel& model, const FitSettings& settings);

  Fitted fit() const;  // to all rows that may be fitted

  // [fit][row] log(predicted / measured) of the rows that each fit leaves out, at the parameters that the
  // others give; 0 for the others.
  std::vector<std::vector<double>> predict(const std::vector<std::vector<bool>>& left_out) const;

  const std::vector<double>& error_at_start() const { return start_; }

 private:
  struct Attempt;
  Attempt begin(const std::vector<bool>& left_out) const;
  void simulate_round(std::vector<Attempt>& attempts) const;
  void correct(Attempt& attempt, const std::vector<double>& offsets, const std::vector<double>& error) const;

  const FittedModel& model_;
  FitSettings settings_;
  std::vector<double> start_;                // [row]
  std::vector<std::vector<bool>> concerns_;  // [row][parameter] whether it can change the row
  std::vector<std::vector<double>> slope_;   // [row][parameter]
};

// [row] the error when the row's group is left out of the fit. Groups are dealt to that many folds in order
// of their numbers, so that every fold leaves out groups from all over the table; 0 = each group is a fold.
// REQUIRES: group[row] >= 0; at least two groups; folds is 0 or at least 2.
std::vector<double> left_out_errors(const Calibrator& calibrator, const std::vector<int>& group, int folds);

}  // namespace podsim
