// Errors of measured collectives, gathered by what the rows have in common.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "engine/binary_units.h"
#include "validation/validate_collectives.h"

namespace podsim {
namespace {

std::string system_of(const MeasuredCollective& row) {
  if (!row.chip.empty()) return row.chip;
  return row.system.empty() ? "" : row.system + ", " + row.network;
}

std::string size_class(double bytes) {
  if (bytes < 64 * kBytesPerKib) return "below 64 KiB";
  if (bytes < kBytesPerMib) return "64 KiB to 1 MiB";
  return bytes < 16 * kBytesPerMib ? "1 to 16 MiB" : "16 MiB and more";
}

// What a sweep over the kernels of a chip is cut by.
NamedErrors groups_of_sweep(const std::vector<PredictedCollective>& rows) {
  using Name = std::function<std::string(const MeasuredCollective&)>;
  const Name names[] = {
      [](const auto& row) { return std::string(to_string(row.collective.kind)); },
      [](const auto& row) { return std::to_string(row.gpus) + " GPUs"; },
      [](const auto& row) { return size_class(row.collective.bytes.value); },
  };
  NamedErrors all;
  for (const Name& name : names) {
    NamedErrors by;
    for (const PredictedCollective& row : rows)
      if (row.measured.representative && !row.measured.chip.empty())
        add_error(by, name(row.measured), row.error());
    std::ranges::move(by, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<NamedSummary> summarize(const std::vector<PredictedCollective>& rows) {
  std::vector<double> all, large, small;
  NamedErrors systems;
  for (const PredictedCollective& row : rows) {
    if (!row.measured.representative) continue;
    all.push_back(row.error());
    (row.measured.collective.bytes.value >= kBytesPerMib ? large : small).push_back(row.error());
    const std::string system = system_of(row.measured);
    if (!system.empty()) add_error(systems, system, row.error());
  }
  std::vector<NamedSummary> summary = {{"all", summarize_errors(all)},
                                       {"1 MiB and more", summarize_errors(large)},
                                       {"below 1 MiB", summarize_errors(small)}};
  for (const NamedErrors& groups : {systems, groups_of_sweep(rows)})
    for (const auto& [name, errors] : groups) summary.push_back({name, summarize_errors(errors)});
  return summary;
}

std::vector<PredictedCollective> worst(const std::vector<PredictedCollective>& rows, std::size_t count) {
  std::vector<PredictedCollective> sorted = rows;
  std::erase_if(sorted, [](const PredictedCollective& row) { return !row.measured.representative; });
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const PredictedCollective& row) { return std::fabs(row.error()); });
  if (sorted.size() > count) sorted.resize(count);
  return sorted;
}

}  // namespace podsim
