// Predicts measured training runs and says how far off the predictions are.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/error_summary.h"
#include "planner/run_scenario.h"
#include "report/report.h"

namespace podsim {

struct PredictedRun {
  RunScenario run;
  Report report;        // REQUIRES: failure is empty
  std::string failure;  // why the scenario cannot be simulated; empty when it was

  std::optional<double> error() const;  // (predicted - measured) / measured; nothing without a measured time
};

// Loads the scenario and simulates it. REQUIRES: run.skipped is empty. Never throws.
PredictedRun predict_run(const RunScenario& run, const Catalog& catalog);

// Errors of the rows that share what a column says, in the order of their first row.
struct GroupedErrors {
  std::string by;  // "family", "chip", "precision", "scale", "parallelism"
  std::vector<std::pair<std::string, ErrorSummary>> groups;
};

struct RunSummary {
  ErrorSummary all;
  double family_mean = 0;  // mean over the families of their mean errors
  int fitting = 0, simulated = 0;
  std::vector<GroupedErrors> grouped;
};
RunSummary summarize(const std::vector<PredictedRun>& runs);

// "up to 8", "9 to 64", ... "above 1,024" chips.
std::string scale_of(int chips);

}  // namespace podsim
