// Finds the fabric of each measured collective, places its GPUs and predicts it.
#include "validation/validate_collectives.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "engine/spelling.h"
#include "proto/scenario/chosen_fabric.h"
#include "proto/text/csv_table.h"
#include "topology/fabric.h"

namespace podsim {
namespace {

int ceil_divide(int a, int b) { return (a + b - 1) / b; }

class Validator {
 public:
  Validator(const Catalog& catalog, const std::string& fabric) : catalog_(catalog), fabric_(fabric) {}

  void add(const MeasuredCollective& row) {
    const auto name = fabric_of(row);
    const PlacedGroup* placed = name ? placed_group(*name, row) : nullptr;
    if (!placed) return;
    const auto& [spec, fabric, group] = *placed;
    const auto chosen = row.pinned ? plan_with(*row.pinned, fabric, row.collective, group)
                                   : std::optional(plan(fabric, row.collective, group));
    if (!chosen)
      return report(row, std::string(to_string(*row.pinned)) + " does not apply to " +
                             std::string(to_string(row.collective.kind)) + " of this group on " + *name);
    result_.rows.push_back({row, *name, chosen->algorithm, predict(fabric, *chosen).in_seconds()});
  }

  CollectiveValidation take() { return std::move(result_); }

 private:
  void report(const MeasuredCollective& row, const std::string& message, const std::string& hint = "") {
    if (result_.problems.size() >= kMostProblems) return;
    Problem problem = row.place;
    problem.message = message;
    problem.hint = hint;
    result_.problems.push_back(std::move(problem));
  }

  std::optional<std::string> fabric_of(const MeasuredCollective& row) {
    if (!fabric_.empty()) return catalog_.canonical(Catalog::Section::kFabrics, fabric_).value_or(fabric_);
    if (!row.chip.empty()) return usual_fabric(row);
    std::vector<std::string> systems, networks;
    for (const Catalog::MeasuredSystem& known : catalog_.measured_systems()) {
      if (known.system == row.system && known.network == row.network) return known.fabric;
      systems.push_back(known.system);
      if (known.system == row.system) networks.push_back(known.network);
    }
    const bool wrong_system = networks.empty();
    const std::string close =
        wrong_system ? closest_name(row.system, systems) : closest_name(row.network, networks);
    report(row, "no fabric is measured as system \"" + row.system + "\", network \"" + row.network + '"',
           close.empty() ? "name one with --fabric, or give a fabric file measured_as { ... }"
                         : "did you mean \"" + close + "\"? --fabric NAME takes one fabric for all rows");
    return std::nullopt;
  }

  std::optional<std::string> usual_fabric(const MeasuredCollective& row) {
    const std::vector<std::string> fabrics = catalog_.fabrics_of(row.chip);
    if (!fabrics.empty()) return fabrics.front();
    const bool known = catalog_.canonical(Catalog::Section::kChips, row.chip).has_value();
    report(row, known ? "no fabric is built for " + row.chip : "no chip \"" + row.chip + '"',
           known ? "name one with --fabric" : catalog_.hint(Catalog::Section::kChips, row.chip));
    return std::nullopt;
  }

  const PlacedGroup* placed_group(const std::string& name, const MeasuredCollective& row) {
    const auto key = std::tuple(name, row.gpus, row.nodes);
    const auto known = placed_.find(key);
    if (known != placed_.end()) return known->second ? &*known->second : nullptr;
    auto& place = placed_[key];
    Problem problem;
    place = place_measured_group(catalog_, name, row.gpus, row.nodes, problem);
    if (!place) report(row, problem.message, problem.hint);
    return place ? &*place : nullptr;
  }

  const Catalog& catalog_;
  const std::string& fabric_;
  std::map<std::tuple<std::string, int, int>, std::optional<PlacedGroup>> placed_;
  CollectiveValidation result_;
};

}  // namespace

std::optional<PlacedGroup> place_measured_group(const Catalog& catalog, const std::string& fabric, int gpus,
                                                int nodes, Problem& problem) {
  const auto sized = [&](int chips) {
    auto [spec, problems] = chosen_fabric(catalog, {fabric, chips, {}, 1, false});
    if (!spec) problem = problems.at(0);
    return spec;
  };
  const auto one = sized(1);
  if (!one) return std::nullopt;
  int domains = 1, chips = gpus;
  if (one->gpu) {
    const int size = one->gpu->gpus_per_domain;
    const int nodes_per_domain = std::max(1, size / one->chips_per_host);
    domains = std::max(ceil_divide(gpus, size), ceil_divide(nodes, nodes_per_domain));
    chips = domains * size;
  }
  if (gpus % domains != 0) {
    problem.message = std::to_string(gpus) + " GPUs do not spread equally over " + std::to_string(domains) +
                      " NVLink domains of " + fabric;
    problem.hint.clear();
    return std::nullopt;
  }
  const auto spec = sized(chips);
  if (!spec) return std::nullopt;
  PlacedGroup placed{*spec, build_fabric(*spec), {}};
  for (int d = 0; d < domains; ++d)
    for (int i = 0; i < gpus / domains; ++i) placed.group.push_back(d * (chips / domains) + i);
  return placed;
}

CollectiveValidation validate_collectives(const std::vector<MeasuredCollective>& rows, const Catalog& catalog,
                                          const std::string& fabric) {
  Validator validator(catalog, fabric);
  for (const MeasuredCollective& row : rows) validator.add(row);
  return validator.take();
}

}  // namespace podsim
