// What goes wrong: slow chips and links that the cluster has, and jitter.
#include <algorithm>
#include <optional>

#include "engine/spelling.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/resolve.h"
#include "proto/text/assign.h"
#include "topology/fabric_kind.h"

namespace podsim {
namespace {

bool chip_exists(int chip, const FabricSpec& fabric, const std::string& path, Document& document) {
  if (chip < fabric.chips) return true;
  document.report(
      path,
      path + " must be below the " + std::to_string(fabric.chips) + " chips, not " + std::to_string(chip),
      "chips count from 0");
  return false;
}

// Nothing where no chip of this fabric has such links.
std::optional<LinkKind> link_kind(const std::string& name, const FabricSpec& fabric) {
  for (const CableClass& cables : kind_of(fabric).cables(fabric))
    if (cables.used && to_string(cables.kind) == name) return cables.kind;
  return std::nullopt;
}

std::vector<std::string> link_names(const FabricSpec& fabric) {
  std::vector<std::string> names;
  for (const CableClass& cables : kind_of(fabric).cables(fabric))
    if (cables.used) names.emplace_back(to_string(cables.kind));
  std::ranges::sort(names);
  return names;
}

}  // namespace

Adversities resolve_adversities(const schema::Adversity& adversity, const Catalog::Entries& entries,
                                const FabricSpec& fabric, const std::string& path, Document& document) {
  Adversities result;
  for (int i = 0; i < adversity.slow_chip_size(); ++i) {
    const auto& fault = adversity.slow_chip(i);
    const std::string at = join_path(path, "slow_chip[" + std::to_string(i) + "]");
    if (chip_exists(fault.chip(), fabric, join_path(at, "chip"), document)) {
      result.add(Degradation::of_chip(fault.chip(), fault.speed_fraction()));
    }
  }
  for (int i = 0; i < adversity.slow_link_size(); ++i) {
    const auto& fault = adversity.slow_link(i);
    const std::string at = join_path(path, "slow_link[" + std::to_string(i) + "]");
    const std::optional<LinkKind> kind = link_kind(fault.kind(), fabric);
    if (fault.has_kind() && !kind) {
      const std::string field = join_path(at, "kind");
      document.report(field, "a chip of " + fabric.name + " has no link of kind \"" + fault.kind() + "\"",
                      suggest(fault.kind(), link_names(fabric), "it has"));
    }
    if (chip_exists(fault.chip(), fabric, join_path(at, "chip"), document) && kind) {
      result.add(Degradation::of_link(fault.chip(), *kind, fault.speed_fraction()));
    }
  }
  result.failures = resolve_failures(adversity, fabric, path, document);
  resolve_variation(adversity, entries, fabric, path, document, result);
  return result;
}

}  // namespace podsim
