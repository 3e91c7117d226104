// Simulated runs of weeks -> the figures of the report.
#pragma once

#include <optional>
#include <span>

#include "report/answer/reliability.h"
#include "scheduler/question/carbon.h"
#include "scheduler/question/price.h"
#include "scheduler/reliability/weeks/simulate_run.h"

namespace podsim {

// REQUIRES: at least one value; they are reordered.
Spread spread_of(std::vector<double> values);

// What chips cost and draw.
struct ChipRates {
  Price price;
  double training_w = 0, idle_w = 0;  // of a chip at the meter
  std::optional<Carbon> carbon = {};
  Egress egress = {};
};

// Fills in figures, buckets and components. `mfu` 0 = not known. REQUIRES: at least one result.
void summarize_runs(const TrainingRun& run, std::span<const RunResult> results, const ChipRates& rates,
                    ReliabilityReport& report);

// By formula, for this interval between checkpoints.
ReliabilityClosedForms closed_forms_of(const TrainingRun& run, double interval_s);

// Seconds that training stands still for a checkpoint, on average.
double mean_save_s(const Checkpoints& checkpoints);

}  // namespace podsim
