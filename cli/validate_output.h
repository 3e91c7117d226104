// Predictions beside measurements as a table, JSON or CSV.
#pragma once

#include <string>
#include <vector>

#include "planner/validate_collectives.h"
#include "planner/validate_runs.h"

namespace podsim {

struct RunValidation {
  std::vector<PredictedRun> rows;    // in the order of the table
  std::vector<RunScenario> skipped;  // with the reason
};

// `format` is "table", "json" or "csv".
std::string collective_errors(const std::vector<PredictedCollective>& rows, const std::string& format);
std::string run_errors(const RunValidation& runs, const std::string& format);

std::string collective_errors_json(const std::vector<PredictedCollective>& rows);
std::string run_errors_json(const RunValidation& runs);

// What is known of one row: how it was mapped, and where the time goes.
std::string run_explanation(const PredictedRun& row);

}  // namespace podsim
