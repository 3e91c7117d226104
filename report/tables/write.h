// Reports for a terminal and for spreadsheets, and side-by-side comparison.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "report/answer/report.h"
#include "report/figures/figure.h"

namespace podsim {

// Tables with units; ends with the question's answer in one sentence.
std::string report_table(const Report& report);

// The sentences that end the tables: the answer to the question, or why the job does not fit.
std::string report_answer(const Report& report);

// Why the job does not fit and what would make it fit, several lines; empty when it fits.
std::string memory_verdict(const Report& report);

// "yes", "no", or "-" where it is not known what the job needs.
std::string fits_text(const Report& report);

// How jobs on one fabric slow each other down; ends with who suffers most, or which job does not fit.
std::string jobs_table(const JobsReport& report);

// A report with more figures of its step behind it.
struct DetailedReport {
  const Report* report;
  std::vector<Figure> detail;
};

// A line of a spreadsheet: a report, or a job among several, which shows its report beside the others.
using SpreadsheetLine = std::variant<const Report*, const JobReport*, const DetailedReport*>;

// One header line and the lines; the keys are those of the JSON, flattened with dots.
std::string report_csv(std::span<const SpreadsheetLine> lines);
std::string report_csv(std::span<const Report> reports);

// The same of lists of figures that have columns.
std::string figures_csv(std::span<const std::vector<Figure>> lines);

// Columns side by side with the ratio to the first, and which bucket makes the difference.
std::string compare_table(std::span<const Report> reports);

}  // namespace podsim
