// Predictions beside measurements as a table, JSON or CSV.
#pragma once

#include <string>
#include <vector>

#include "validation/validate_collectives.h"
#include "validation/validate_kernels.h"
#include "validation/validate_runs.h"

namespace podsim {

struct RunValidation {
  std::vector<PredictedRun> rows;    // in the order of the table
  std::vector<RunScenario> skipped;  // with the reason
};

// A number that several formats print of a row, under the same name.
struct NamedNumber {
  std::string name;
  double value;
};
std::vector<NamedNumber> where_time_goes(const Report& report);  // seconds; they add up to the step time
// At this step time, measured or predicted: tokens/s and model TFLOP/s per chip, MFU.
std::vector<NamedNumber> rates(const Report& report, double step_time_s);

// `format` is "table", "json" or "csv"; `sha256` is of the table.
std::string collective_errors(const std::vector<PredictedCollective>& rows, const std::string& format,
                              const std::string& sha256);
std::string run_errors(const RunValidation& runs, const std::string& format);
// Of kernels JSON has the summary and the worst rows, CSV every row.
std::string kernel_errors(const KernelValidation& made, const std::string& format, const std::string& sha256);

// Absolute errors of groups of rows in percent, one line each.
std::string summary_table(const std::vector<NamedSummary>& summaries);

std::string collective_errors_csv(const std::vector<PredictedCollective>& rows);
std::string run_errors_csv(const RunValidation& runs);
std::string collective_errors_json(const std::vector<PredictedCollective>& rows, const std::string& sha256);
std::string run_errors_json(const RunValidation& runs);

// What is known of one row: how it was mapped, and where the time goes.
std::string run_explanation(const PredictedRun& row);

}  // namespace podsim
