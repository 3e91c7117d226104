// What a calibration prints and writes: errors of an experiment, fitted numbers, residuals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibration/calibration_runs.h"
#include "proto/catalog/rewrite_numbers.h"

namespace podsim {

// Mean, median, 90th percentile, largest error and bias in percent, table by table: of all rows, by family
// and by chip, and with `with_rows` each row. `told[row]` says which rows the experiment is about.
std::string experiment_text(const std::string& what, const std::vector<CalibrationRow>& rows,
                            const std::vector<double>& log_error, const std::vector<bool>& told,
                            bool with_rows);

// Every number with its start, its value and what moved it; numbers at a bound and offsets beyond two spreads
// are marked.
std::string fitted_text(const CalibrationTable& table, const std::vector<double>& offsets);

// The fitted numbers, to three significant digits.
std::vector<NumberChange> number_changes(const CalibrationTable& table, const std::vector<double>& offsets);

// A table of residuals, one line per row of `rows`:
// id,table,family,group,chip,chip_kind,stack,arch,chips,log_error,chip_left_out_log_error, sorted by table,
// in the order of the rows. Lines of `before`, the text of the file as it was, are kept where they are of
// other tables.
std::string residuals_text(const std::string& before, const std::vector<CalibrationRow>& rows,
                           const std::vector<double>& group_left_out,
                           const std::vector<double>& chip_left_out);

}  // namespace podsim
