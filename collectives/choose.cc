// Plans a collective with a given algorithm, or with the one of least predicted time.
#include <array>
#include <string>
#include <utility>

#include "collectives/algorithms.h"
#include "engine/check.h"

namespace podsim {
namespace {

using Planner = std::optional<Phases> (*)(const Fabric&, const Collective&, std::span<const ChipId>);

struct Entry {
  Algorithm algorithm;
  std::string_view name;
  Planner plan;
};

constexpr std::array<Entry, 8> kAlgorithms = {{
    {Algorithm::kRing, "ring", plan_ring},
    {Algorithm::kBidirectionalRing, "bidirectional_ring", plan_bidirectional_ring},
    {Algorithm::kTorus, "torus", plan_torus},
    {Algorithm::kTree, "tree", plan_tree},
    {Algorithm::kHierarchical, "hierarchical", plan_hierarchical},
    {Algorithm::kHalvingDoubling, "halving_doubling", plan_halving_doubling},
    {Algorithm::kNvls, "nvls", plan_nvls},
    {Algorithm::kDirect, "direct", plan_direct},
}};

const Entry& entry_of(Algorithm algorithm) { return kAlgorithms[static_cast<std::size_t>(algorithm)]; }

void check_group(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group) {
  PODSIM_CHECK(!group.empty(), "a group has at least one chip");
  PODSIM_CHECK(collective.bytes.value >= 0, "a collective cannot move a negative amount");
  std::vector<bool> seen(fabric.chips, false);
  for (const ChipId chip : group) {
    PODSIM_CHECK(chip >= 0 && chip < fabric.chips, "chip " + std::to_string(chip) + " is not in the fabric");
    PODSIM_CHECK(!seen[chip], "chip " + std::to_string(chip) + " is twice in a group");
    seen[chip] = true;
  }
}

}  // namespace

std::string_view to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce: return "all_reduce";
    case CollectiveKind::kAllGather: return "all_gather";
    case CollectiveKind::kReduceScatter: return "reduce_scatter";
    case CollectiveKind::kAllToAll: return "all_to_all";
    case CollectiveKind::kBroadcast: return "broadcast";
    case CollectiveKind::kSendReceive: return "send_receive";
    case CollectiveKind::kPermute: return "permute";
    case CollectiveKind::kBarrier: return "barrier";
  }
  return "unknown";
}

std::string_view to_string(Algorithm algorithm) { return entry_of(algorithm).name; }

std::optional<CollectivePlan> plan_with(Algorithm algorithm, const Fabric& fabric, const Collective& collective,
                                        std::span<const ChipId> group) {
  check_group(fabric, collective, group);
  if (group.size() == 1) return CollectivePlan{algorithm, {}, {}};
  auto phases = entry_of(algorithm).plan(fabric, collective, group);
  if (!phases) return std::nullopt;
  return CollectivePlan{algorithm, fabric.collective_launch, *std::move(phases)};
}

CollectivePlan plan(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group) {
  if (group.size() == 1) return {};
  std::optional<CollectivePlan> best;
  Time best_time = Time::max();
  for (const Entry& entry : kAlgorithms) {
    auto candidate = plan_with(entry.algorithm, fabric, collective, group);
    if (!candidate) continue;
    const Time time = predict(fabric, *candidate);
    if (time >= best_time) continue;
    best_time = time;
    best = std::move(candidate);
  }
  PODSIM_CHECK(best, "no algorithm for " + std::string(to_string(collective.kind)) + " in a group of " +
                         std::to_string(group.size()));
  return *std::move(best);
}

}  // namespace podsim
