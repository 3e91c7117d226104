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
#include "topology/fabric_kind.h"

namespace podsim {
namespace {

int ceil_divide(int a, int b) { return (a + b - 1) / b; }

// Which network a measured collective ran on, and how it is made as large as a group needs it.
class Networks {
 public:
  virtual ~Networks() = default;
  // Nothing, and a problem without a place, where it is not known.
  virtual std::optional<std::string> name_of(const MeasuredCollective& row, Problem& problem) const = 0;
  // Likewise.
  virtual std::optional<FabricSpec> sized(const std::string& name, int chips, Problem& problem) const = 0;
};

std::optional<PlacedGroup> placed_on(const Networks& networks, const std::string& fabric, int gpus, int nodes,
                                     Problem& problem) {
  const auto one = networks.sized(fabric, 1, problem);
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
  const auto spec = networks.sized(fabric, chips, problem);
  if (!spec) return std::nullopt;
  PlacedGroup placed{*spec, build_fabric(*spec), {}};
  for (int d = 0; d < domains; ++d)
    for (int i = 0; i < gpus / domains; ++i) placed.group.push_back(d * (chips / domains) + i);
  return placed;
}

class GivenNetwork : public Networks {
 public:
  explicit GivenNetwork(const FabricSpec& fabric) : fabric_(fabric) {}

  std::optional<std::string> name_of(const MeasuredCollective&, Problem&) const override {
    return fabric_.name;
  }

  std::optional<FabricSpec> sized(const std::string&, int chips, Problem& problem) const override {
    FabricSpec spec = fabric_;
    problem.message = kind_of(spec).resize(spec, chips);
    if (problem.message.empty()) problem.message = explain_invalid(spec);
    return problem.message.empty() ? std::optional(spec) : std::nullopt;
  }

 private:
  const FabricSpec& fabric_;
};

class CatalogueNetworks : public Networks {
 public:
  // `fabric` empty: that of each row.
  CatalogueNetworks(const Catalog& catalog, const std::string& fabric) : catalog_(catalog), fabric_(fabric) {}

  std::optional<std::string> name_of(const MeasuredCollective& row, Problem& problem) const override {
    if (!fabric_.empty()) return catalog_.canonical(Catalog::Section::kFabrics, fabric_).value_or(fabric_);
    if (!row.chip.empty()) return usual_fabric(row, problem);
    std::vector<std::string> systems, networks;
    for (const Catalog::MeasuredSystem& known : catalog_.measured_systems()) {
      if (known.system == row.system && known.network == row.network) return known.fabric;
      systems.push_back(known.system);
      if (known.system == row.system) networks.push_back(known.network);
    }
    const bool wrong_system = networks.empty();
    const std::string close =
        wrong_system ? closest_name(row.system, systems) : closest_name(row.network, networks);
    problem.message =
        "no fabric is measured as system \"" + row.system + "\", network \"" + row.network + '"';
    problem.hint = close.empty()
                       ? "name one with --fabric, or give a fabric file measured_as { ... }"
                       : "did you mean \"" + close + "\"? --fabric NAME takes one fabric for all rows";
    return std::nullopt;
  }

  std::optional<FabricSpec> sized(const std::string& name, int chips, Problem& problem) const override {
    auto [spec, problems] = chosen_fabric(catalog_, {name, chips, {}, 1, false});
    if (!spec) problem = problems.at(0);
    return spec;
  }

 private:
  std::optional<std::string> usual_fabric(const MeasuredCollective& row, Problem& problem) const {
    const std::vector<std::string> fabrics = catalog_.fabrics_of(row.chip);
    if (!fabrics.empty()) return fabrics.front();
    const bool known = catalog_.canonical(Catalog::Section::kChips, row.chip).has_value();
    problem.message = known ? "no fabric is built for " + row.chip : "no chip \"" + row.chip + '"';
    problem.hint = known ? "name one with --fabric" : catalog_.hint(Catalog::Section::kChips, row.chip);
    return std::nullopt;
  }

  const Catalog& catalog_;
  std::string fabric_;
};

class Validator {
 public:
  explicit Validator(const Networks& networks) : networks_(networks) {}

  void add(const MeasuredCollective& row) {
    Problem problem;
    const auto name = networks_.name_of(row, problem);
    if (!name) return report(row, problem.message, problem.hint);
    const PlacedGroup* placed = placed_group(*name, row);
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

  const PlacedGroup* placed_group(const std::string& name, const MeasuredCollective& row) {
    const auto key = std::tuple(name, row.gpus, row.nodes);
    const auto known = placed_.find(key);
    if (known != placed_.end()) return known->second ? &*known->second : nullptr;
    auto& place = placed_[key];
    Problem problem;
    place = placed_on(networks_, name, row.gpus, row.nodes, problem);
    if (!place) report(row, problem.message, problem.hint);
    return place ? &*place : nullptr;
  }

  const Networks& networks_;
  std::map<std::tuple<std::string, int, int>, std::optional<PlacedGroup>> placed_;
  CollectiveValidation result_;
};

}  // namespace

std::optional<PlacedGroup> place_measured_group(const Catalog& catalog, const std::string& fabric, int gpus,
                                                int nodes, Problem& problem) {
  return placed_on(CatalogueNetworks(catalog, fabric), fabric, gpus, nodes, problem);
}

std::optional<PlacedGroup> place_measured_group(const FabricSpec& fabric, int gpus, int nodes,
                                                Problem& problem) {
  return placed_on(GivenNetwork(fabric), fabric.name, gpus, nodes, problem);
}

CollectiveValidation validate_collectives(const std::vector<MeasuredCollective>& rows, const Catalog& catalog,
                                          const std::string& fabric) {
  const CatalogueNetworks networks(catalog, fabric);
  Validator validator(networks);
  for (const MeasuredCollective& row : rows) validator.add(row);
  return validator.take();
}

CollectiveValidation validate_collectives(const std::vector<MeasuredCollective>& rows,
                                          const FabricSpec& fabric) {
  const GivenNetwork network(fabric);
  Validator validator(network);
  for (const MeasuredCollective& row : rows) validator.add(row);
  return validator.take();
}

}  // namespace podsim
