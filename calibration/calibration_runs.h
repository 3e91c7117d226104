// Measured runs as what a calibration fits: their rows, and their errors by simulation.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibration/calibration_fit.h"
#include "calibration/calibration_table.h"
#include "validation/run_scenario.h"

namespace podsim {

struct CalibrationRow {
  RunScenario run;
  std::string table;   // file name without folders and suffix
  bool fitted = true;  // else it is only predicted
};

// Runs of a table that can be simulated and have a measured time; with `all`, those too that are not ready.
struct CalibrationRows {
  std::vector<CalibrationRow> rows;
  std::vector<Problem> problems;
};
CalibrationRows read_calibration_rows(const std::string& file, const std::string& text,
                                      const Catalog& catalog, bool all);

// [row] log(predicted / measured); nothing where the run cannot be simulated.
std::vector<std::optional<double>> log_errors(const std::vector<CalibrationRow>& rows, const Catalog& catalog,
                                              int threads);

// Sizes of ordinary errors of predictions, as logarithms.
struct RowScales {
  double stated = 0.05;   // dense runs whose tables say all that a simulation needs
  double assumed = 0.15;  // others, and mixtures of experts, whose kernels and balance no table tells
};

// Simulates the runs with the catalogue that the offsets make. REQUIRES: each run can be simulated; rows and
// table outlive it.
class SimulatedRuns : public FittedModel {
 public:
  using Progress = std::function<void(std::size_t done, std::size_t all)>;

  SimulatedRuns(const std::vector<CalibrationRow>& rows, const CalibrationTable& table,
                const RowScales& scales, int threads, Progress progress);

  std::size_t parameters() const override { return table_.parameters.size(); }
  const std::vector<int>& families() const override { return families_; }
  const std::vector<double>& scales() const override { return scales_; }
  const std::vector<bool>& fitted() const override { return fitted_; }
  std::vector<double> effect(std::size_t parameter, std::size_t row) const override;
  std::vector<std::vector<double>> log_errors(const std::vector<FitQuestion>& questions) const override;

 private:
  const std::vector<CalibrationRow>& rows_;
  const CalibrationTable& table_;
  int threads_;
  Progress progress_;
  std::vector<int> families_;
  std::vector<double> scales_;
  std::vector<bool> fitted_;
  std::vector<std::vector<std::size_t>> reads_;  // [row] indices of numbers
};

// The built-in catalogue with the calibrated numbers at these values ([number]).
Catalog catalog_with(const CalibrationTable& table, const std::vector<double>& values);

}  // namespace podsim
