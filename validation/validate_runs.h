// Predicts measured training runs and says how far off the predictions are.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prediction/predict.h"
#include "proto/catalog/catalog.h"
#include "report/answer/report.h"
#include "validation/error_summary.h"
#include "validation/run_scenario.h"

namespace podsim {

struct PredictedRun {
  RunScenario run;
  Report report;        // REQUIRES: failure is empty
  std::string failure;  // why the scenario cannot be simulated; empty when it was

  std::optional<double> error() const;  // (predicted - measured) / measured; nothing without a measured time
  std::optional<bool> inside_band() const;  // is the measured time? Nothing without it, or without a band
  bool misfits() const;                     // was it simulated, with a layout that does not fit in memory?
  std::vector<Problem> contradictions() const;  // of its row, and of the number of weights
  std::string stated() const;                   // "in full", "with assumptions" (a whole layout) or "in part"
};

// Predicts the step of a run.
using StepPredictor = std::function<Report(const Spec& spec, const PredictOptions& options)>;

// Loads the scenario and predicts it; a run that the parameters were fitted on does not count in its own
// band. REQUIRES: run.skipped is empty. Never throws.
PredictedRun predict_run(const RunScenario& run, const Catalog& catalog, const StepPredictor& predict);
PredictedRun predict_run(const RunScenario& run, const Catalog& catalog);  // by simulation

// In the order of the runs, whatever the number of threads (0 = one per core).
std::vector<PredictedRun> predict_runs(const std::vector<RunScenario>& runs, const Catalog& catalog,
                                       int threads);

// Errors of several runs, how many of those that have a band have the measured time inside it, and how many
// have a layout that by the memory model does not fit, although the run was made.
struct RunErrors : ErrorSummary {
  int banded = 0;
  int inside = 0;
  int misfits = 0;

  double coverage() const { return banded > 0 ? static_cast<double>(inside) / banded : 0; }
};
RunErrors summarize_runs(const std::vector<const PredictedRun*>& runs);

// Errors of the rows that share what a column says, in the order of their first row; scales from few chips to
// many.
struct GroupedErrors {
  std::string by;  // "family", "chip", "precision", "chips", "parallelism", "architecture", "stated", "band"
  std::vector<std::pair<std::string, RunErrors>> groups;
};

struct RunSummary {
  RunErrors all;
  double family_mean = 0;  // mean over the families of their mean errors
  int fitting = 0, simulated = 0;
  std::vector<GroupedErrors> grouped;
};
RunSummary summarize(const std::vector<PredictedRun>& runs);

// "up to 8", "9 to 64", ... "above 1,024" chips.
std::string scale_of(int chips);

}  // namespace podsim
