// The report about weeks for a terminal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/answer/reliability.h"

namespace podsim {

// Tables with units; says of each what is by formula and what is simulated.
std::string reliability_table(const ReliabilityReport& report);

// Columns side by side, with ratios of medians to the first; two or more.
std::string reliability_beside(std::span<const ReliabilityReport> reports);

// Headings, then a row of the main figures a report: means of the runs. The first column is the scenario.
std::vector<std::vector<std::string>> reliability_rows(std::span<const ReliabilityReport> reports);

// The same with all digits, and with the shares of all buckets: one header line, one line a report.
std::string reliability_csv(std::span<const ReliabilityReport> reports);

// "2 of 100 runs", those that did not reach the tokens that they aimed at before they were cut off.
std::string unfinished_runs(const ReliabilityReport& report);

// A figure that grows with the length of a run: "> 57.9" where some runs were cut off.
std::string least_of_run(const ReliabilityReport& report, double figure);

}  // namespace podsim
