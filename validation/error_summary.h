// How far predictions are from measurements, over many rows.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace podsim {

// Of the errors (predicted - measured) / measured; all but `bias` of their absolute values.
struct ErrorSummary {
  int rows = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;  // the smallest that at least nine in ten do not exceed
  double max = 0;
  double bias = 0;  // mean with its sign
};
ErrorSummary summarize_errors(std::span<const double> errors);

// Its numbers as cells of a table: rows, then mean, median, p90, max and bias in percent.
std::vector<std::string> summary_cells(const ErrorSummary& errors);

// Errors by what rows have in common, in the order of the first row of each.
using NamedErrors = std::vector<std::pair<std::string, std::vector<double>>>;
void add_error(NamedErrors& groups, const std::string& name, double error);

}  // namespace podsim
