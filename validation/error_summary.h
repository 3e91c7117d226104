// How far predictions are from measurements, over many rows.
#pragma once

#include <span>

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

}  // namespace podsim
