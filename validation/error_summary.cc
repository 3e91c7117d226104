// Mean, median, 90th percentile, largest and bias of relative errors.
#include "validation/error_summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/order_statistics.h"

namespace podsim {

ErrorSummary summarize_errors(std::span<const double> errors) {
  ErrorSummary summary;
  if (errors.empty()) return summary;
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::fabs(error));
    summary.bias += error;
    summary.mean += std::fabs(error);
  }
  std::ranges::sort(sizes);
  const std::size_t n = sizes.size();
  summary.rows = static_cast<int>(n);
  summary.bias /= static_cast<double>(n);
  summary.mean /= static_cast<double>(n);
  summary.median = median(sizes);
  summary.p90 = sizes[nearest_rank(n, 0.9)];
  summary.max = sizes.back();
  return summary;
}

}  // namespace podsim
