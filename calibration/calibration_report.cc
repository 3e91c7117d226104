// Text of a calibration.
#include "calibration/calibration_report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "proto/text/csv_table.h"
#include "report/text/text.h"
#include "validation/error_summary.h"

namespace podsim {
namespace {

constexpr const char* kResidualHeader =
    "id,table,family,group,chip,chip_kind,stack,arch,chips,log_error,chip_left_out_log_error";

constexpr const char* kResidualComment =
    "# How far off measured runs are when the fit has not seen them; error bands come from here "
    "(prediction/error_band.h).\n"
    "# log_error = log(predicted / measured) with the run's group left out of the fit; "
    "chip_left_out_log_error = with\n# all runs on its chip left out.\n";

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text + " " : text + std::string(width - text.size(), ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? " " + text : std::string(width - text.size(), ' ') + text;
}

std::string percent_right(double share) { return right(fixed(100 * share, 1), 7); }

std::string summary_line(const std::string& name, const std::vector<double>& errors) {
  const std::vector<std::string> cells = summary_cells(summarize_errors(errors));
  std::string line = padded("  " + name, 34) + right(cells[0], 5);
  for (std::size_t i = 1; i < cells.size(); ++i) line += right(cells[i], 7);
  return line + "\n";
}

// To three significant digits.
double rounded(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, 2).ptr;
  double result = value;
  std::from_chars(text, end, result);
  return result;
}

// Rows of one kind in one experiment.
std::string kind_text(const std::string& what, const std::vector<CalibrationRow>& rows,
                      const std::vector<double>& log_error, const std::vector<std::size_t>& told,
                      bool with_rows) {
  std::vector<double> errors;
  NamedErrors families, chips;
  std::string listed;
  for (const std::size_t row : told) {
    const RunScenario& run = rows[row].run;
    errors.push_back(std::expm1(log_error[row]));
    add_error(families, run.family, errors.back());
    add_error(chips, run.chip, errors.back());
    if (with_rows)
      listed += padded("  " + run.id, 34) + padded(run.family, 28) + padded(run.chip, 12) +
                right(std::to_string(run.chips), 6) + percent_right(errors.back()) + "\n";
  }
  double family_mean = 0;
  for (const auto& [name, of] : families)
    family_mean += summarize_errors(of).mean / static_cast<double>(families.size());
  std::string text =
      padded(what + ", %", 60) + "\n" + padded("", 34) + " rows   mean median    p90    max   bias\n";
  text += summary_line("all", errors) + "  mean over families " + fixed(100 * family_mean, 1) + "\n";
  for (const auto& [name, of] : families) text += summary_line("family " + name, of);
  for (const auto& [name, of] : chips) text += summary_line("chip " + name, of);
  return text + listed + "\n";
}

}  // namespace

std::string experiment_text(const std::string& what, const std::vector<CalibrationRow>& rows,
                            const std::vector<double>& log_error, const std::vector<bool>& told,
                            bool with_rows) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> kinds;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!told[row]) continue;
    const RunScenario& run = rows[row].run;
    const std::string kind =
        rows[row].table + ", " + run.architecture + (run.ready ? "" : " with assumptions");
    auto at = std::ranges::find(kinds, kind, &decltype(kinds)::value_type::first);
    if (at == kinds.end()) at = kinds.insert(kinds.end(), {kind, {}});
    at->second.push_back(row);
  }
  std::string text;
  for (const auto& [kind, of] : kinds) text += kind_text(what + ": " + kind, rows, log_error, of, with_rows);
  return text.empty() ? what + ": no rows\n\n" : text;
}

std::string fitted_text(const CalibrationTable& table, const std::vector<double>& offsets) {
  std::string text = padded("parameter", 84) + " spreads\n";
  for (std::size_t p = 0; p < offsets.size(); ++p)
    text += padded(table.parameters[p].name, 84) + right(fixed(offsets[p], 2), 8) +
            (std::abs(offsets[p]) > 2 ? "  beyond two spreads" : "") + "\n";
  text += "\n" + padded("number", 60) + "   start  fitted\n";
  const std::vector<double> values = table.values(offsets);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const CalibratedNumber& number = table.numbers[i];
    const bool held = values[i] <= number.low || values[i] >= number.high;
    text += padded(number.entry + " " + number.path, 60) + right(significant(number.start, 3), 8) +
            right(significant(values[i], 3), 8) + (held ? "  at its bound" : "") + "\n";
  }
  return text;
}

std::vector<NumberChange> number_changes(const CalibrationTable& table, const std::vector<double>& offsets) {
  const std::vector<double> values = table.values(offsets);
  std::vector<NumberChange> changes;
  for (std::size_t i = 0; i < values.size(); ++i)
    changes.push_back(
        {table.numbers[i].section, table.numbers[i].entry, table.numbers[i].path, rounded(values[i])});
  return changes;
}

std::string residuals_text(const std::string& before, const std::vector<CalibrationRow>& rows,
                           const std::vector<double>& group_left_out,
                           const std::vector<double>& chip_left_out) {
  std::map<std::string, std::string> lines_of;  // [table]
  for (const CalibrationRow& row : rows) lines_of[row.table] = "";
  std::map<std::string, std::string> kept;
  const CsvTable old("", before);
  for (const CsvRow& row : old.rows()) {
    const std::string& table = old.cell(row, "table").text;
    if (lines_of.count(table) == 0) kept[table] += row.source + "\n";
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RunScenario& run = rows[i].run;
    std::string line;
    for (const std::string& cell :
         {run.id, rows[i].table, run.family, run.group, run.chip, std::string(to_string(run.chip_kind)),
          run.stack, run.architecture, std::to_string(run.chips)})
      line += csv_cell(cell) + ",";
    lines_of[rows[i].table] += line + fixed(group_left_out[i], 5) + "," + fixed(chip_left_out[i], 5) + "\n";
  }
  lines_of.merge(kept);
  std::string text = kResidualComment + (std::string(kResidualHeader) + "\n");
  for (const auto& [table, lines] : lines_of) text += lines;
  return text;
}

}  // namespace podsim
