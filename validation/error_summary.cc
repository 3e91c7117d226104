// Mean, median, 90th percentile, largest and bias of relative errors.
#include "validation/error_summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/order_statistics.h"
#include "report/text/text.h"

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

std::vector<std::string> summary_cells(const ErrorSummary& errors) {
  std::vector<std::string> cells = {std::to_string(errors.rows)};
  for (const double share : {errors.mean, errors.median, errors.p90, errors.max})
    cells.push_back(fixed(100 * share, 1));
  cells.push_back(signed_percent(errors.bias));
  return cells;
}

void add_error(NamedErrors& groups, const std::string& name, double error) {
  auto group = std::ranges::find(groups, name, &NamedErrors::value_type::first);
  if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
  group->second.push_back(error);
}

}  // namespace podsim
