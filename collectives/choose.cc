// Plans a collective with a given algorithm, or with the one of least predicted time.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "collectives/algorithms.h"
#include "collectives/candidates.h"
#include "collectives/channel.h"
#include "collectives/even_group.h"
#include "engine/check.h"

namespace podsim {
namespace {

using Planner = std::optional<Phases> (*)(const Fabric&, const Collective&, std::span<const ChipId>);

using SlicePlanner = std::optional<Phases> (*)(const Fabric&, const Collective&, std::span<const ChipId>,
                                               const AlikeSlices&);

struct Entry {
  Algorithm algorithm;
  std::string_view name;
  Planner plan;
  Planner outline;  // see algorithms.h
  SlicePlanner plan_one_slice = nullptr;
};

// The outline of an algorithm that is planned quickly or rarely loses.
std::optional<Phases> outline_nothing(const Fabric&, const Collective&, std::span<const ChipId>) {
  return Phases{};
}

constexpr std::array<Entry, 11> kAlgorithms = {{
    {Algorithm::kRing, "ring", plan_ring, outline_ring, ring_in_one_slice},
    {Algorithm::kBidirectionalRing, "bidirectional-ring", plan_bidirectional_ring, outline_bidirectional_ring,
     bidirectional_ring_in_one_slice},
    {Algorithm::kTorus, "torus", plan_torus, outline_nothing},
    {Algorithm::kTree, "tree", plan_tree, outline_tree},
    {Algorithm::kHierarchical, "hierarchical", plan_hierarchical, outline_nothing, hierarchical_in_one_slice},
    {Algorithm::kHalvingDoubling, "halving-doubling", plan_halving_doubling, outline_halving_doubling,
     halving_doubling_in_one_slice},
    {Algorithm::kNvls, "nvls", plan_nvls, outline_nothing},
    {Algorithm::kDirect, "direct", plan_direct, outline_nothing, direct_in_one_slice},
    {Algorithm::kNvlsTree, "nvls-tree", plan_nvls_tree, outline_nothing},
    {Algorithm::kLogStep, "log-step", plan_log_step, outline_log_step, log_step_in_one_slice},
    {Algorithm::kSharp, "sharp", plan_sharp, outline_nothing},
}};

const Entry& entry_of(Algorithm algorithm) { return kAlgorithms[static_cast<std::size_t>(algorithm)]; }

// The chips of a group, listed where somebody asks for each, and what is known of them where they lie evenly.
class GroupMembers {
 public:
  // The group must outlive this.
  explicit GroupMembers(std::span<const ChipId> listed, const EvenGroup* even = nullptr)
      : even_(even), size_(listed.size()), listed_(listed) {}
  GroupMembers(const StridedGroup& strided, const EvenGroup& even)
      : even_(&even), size_(strided.size()), strided_(&strided) {}

  std::size_t size() const { return size_; }
  const EvenGroup* even() const { return even_; }
  std::span<const ChipId> listed() const {
    if (strided_ != nullptr && list_.empty()) listed_ = list_ = strided_->list();
    return listed_;
  }

 private:
  const EvenGroup* even_;
  std::size_t size_;
  const StridedGroup* strided_ = nullptr;
  mutable std::vector<ChipId> list_;
  mutable std::span<const ChipId> listed_;
};

void check_group(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group) {
  PODSIM_CHECK(!group.empty(), "a group has at least one chip");
  PODSIM_CHECK(collective.bytes.value >= 0, "a collective cannot move a negative amount");
  std::vector<ChipId> chips(group.begin(), group.end());
  if (!std::ranges::is_sorted(chips)) std::ranges::sort(chips);
  PODSIM_CHECK(chips.front() >= 0 && chips.back() < fabric.chips,
               "a group has a chip that is not in the fabric");
  PODSIM_CHECK(std::ranges::adjacent_find(chips) == chips.end(), "a group has a chip twice");
  const std::vector<double>& shares = collective.receive_share;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const bool shared = shares.size() == group.size() && std::abs(sum - 1) < 1e-9 &&
                      std::ranges::all_of(shares, [](double share) { return share >= 0; });
  PODSIM_CHECK(shares.empty() || shared, "the shares of an all-to-all are one per rank and 1 together");
}

// An algorithm that applies, with a time that its plan cannot beat.
struct Candidate {
  Time at_least;
  const Entry* entry;
};

CollectivePlan over_network(const Fabric& fabric, const Collective& collective, Algorithm algorithm,
                            const GroupMembers& ranks, Phases phases) {
  if (ranks.even() == nullptr || phases.empty())
    return over_channel(fabric, collective, algorithm, ranks.listed(), std::move(phases));
  return over_library(*fabric.library, fabric, ranks.even()->shape(), collective,
                      {algorithm, collective.bytes, fabric.collective_launch, std::move(phases)});
}

// By that time, so that a plan in hand rules out all that follow once it is faster.
std::vector<Candidate> candidates(const Fabric& fabric, const Collective& collective,
                                  const GroupMembers& ranks) {
  const EvenGroup* even = ranks.even();
  std::vector<Candidate> found;
  for (const Entry& entry : kAlgorithms) {
    if (even != nullptr ? !is_offered(fabric, collective.kind, entry.algorithm)
                        : !is_considered(fabric, collective.kind, ranks.listed(), entry.algorithm))
      continue;
    auto outline = even != nullptr && even->tells(entry.algorithm, collective)
                       ? even->plan(entry.algorithm, collective)
                       : entry.outline(fabric, collective, ranks.listed());
    if (!outline) continue;
    const CollectivePlan sketch =
        over_network(fabric, collective, entry.algorithm, ranks, *std::move(outline));
    found.push_back({predict(fabric, sketch), &entry});
  }
  std::ranges::stable_sort(found, {}, &Candidate::at_least);
  return found;
}

std::optional<Phases> phases_by(const Entry& entry, const Fabric& fabric, const Collective& collective,
                                const GroupMembers& ranks, const AlikeSlices* slices) {
  if (ranks.even() != nullptr && ranks.even()->tells(entry.algorithm, collective))
    return ranks.even()->plan(entry.algorithm, collective);
  const std::span<const ChipId> group = ranks.listed();
  const bool one_slice =
      slices != nullptr && entry.plan_one_slice != nullptr && slices->ranks_in_first(group) < group.size();
  return one_slice ? entry.plan_one_slice(fabric, collective, group, *slices)
                   : entry.plan(fabric, collective, group);
}

std::optional<CollectivePlan> plan_by(const Entry& entry, const Fabric& fabric, const Collective& collective,
                                      const GroupMembers& ranks, const AlikeSlices* slices) {
  auto phases = phases_by(entry, fabric, collective, ranks, slices);
  if (!phases) return std::nullopt;
  return over_network(fabric, collective, entry.algorithm, ranks, *std::move(phases));
}

// `make` plans a collective with an algorithm, where it applies.
template <class Make>
CollectivePlan fastest(const Fabric& fabric, const Collective& collective, const GroupMembers& ranks,
                       const Make& make) {
  if (ranks.size() == 1) return {};
  std::optional<CollectivePlan> best;
  Time best_time = Time::max();
  for (const auto& [at_least, entry] : candidates(fabric, collective, ranks)) {
    if (at_least > best_time) break;
    std::optional<CollectivePlan> made = make(*entry, collective);
    if (!made) continue;
    const Time time = predict(fabric, *made);
    if (best && (time > best_time || (time == best_time && best->algorithm < made->algorithm))) continue;
    best_time = time;
    best = std::move(made);
  }
  PODSIM_CHECK(best, "no algorithm for " + std::string(to_string(collective.kind)) + " in a group of " +
                         std::to_string(ranks.size()));
  return *std::move(best);
}

CollectivePlan planned(const Fabric& fabric, const Collective& collective, const GroupMembers& ranks,
                       const AlikeSlices* slices) {
  return fastest(fabric, collective, ranks, [&](const Entry& entry, const Collective& of) {
    return plan_by(entry, fabric, of, ranks, slices);
  });
}

Phases scaled(Phases phases, double factor) {
  for (Phase& phase : phases)
    for (LinkLoad& load : phase.loads) load.bytes *= factor;
  return phases;
}

}  // namespace

std::string_view to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "all-reduce";
    case CollectiveKind::kAllGather:
      return "all-gather";
    case CollectiveKind::kReduceScatter:
      return "reduce-scatter";
    case CollectiveKind::kAllToAll:
      return "all-to-all";
    case CollectiveKind::kBroadcast:
      return "broadcast";
    case CollectiveKind::kSendReceive:
      return "send-receive";
    case CollectiveKind::kPermute:
      return "permute";
    case CollectiveKind::kBarrier:
      return "barrier";
  }
  return "unknown";
}

std::string_view to_string(Algorithm algorithm) { return entry_of(algorithm).name; }

std::optional<CollectivePlan> plan_with(Algorithm algorithm, const Fabric& fabric,
                                        const Collective& collective, std::span<const ChipId> group) {
  return GroupPlanner(fabric, group).plan_with(algorithm, collective);
}

std::optional<CollectivePlan> GroupPlanner::plan_with(Algorithm algorithm, const Collective& collective) {
  check_group(fabric_, collective, group_);
  if (group_.size() == 1) return CollectivePlan{algorithm, collective.bytes, {}, {}};
  auto phases = algorithm == Algorithm::kHalvingDoubling
                    ? halve_and_double(collective)
                    : entry_of(algorithm).plan(fabric_, collective, group_);
  if (!phases) return std::nullopt;
  return over_channel(fabric_, collective, algorithm, group_, *std::move(phases));
}

std::optional<Phases> GroupPlanner::halve_and_double(const Collective& collective) {
  if (!halving_ || halved_ != collective.bytes) {
    halving_ = plan_halving_doubling(fabric_, {CollectiveKind::kReduceScatter, collective.bytes}, group_);
    halved_ = collective.bytes;
  }
  return halving_ ? from_halving(collective.kind, *halving_) : std::nullopt;
}

CollectivePlan plan(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group) {
  return plan(fabric, collective, group, nullptr);
}

CollectivePlan plan(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group,
                    const AlikeSlices* slices) {
  check_group(fabric, collective, group);
  return planned(fabric, collective, GroupMembers(group), slices);
}

Algorithm fastest_algorithm(const Fabric& fabric, const Collective& collective,
                            std::span<const ChipId> group) {
  check_group(fabric, collective, group);
  const std::optional<EvenGroup> even = EvenGroup::of(fabric, group);
  return planned(fabric, collective, GroupMembers(group, even ? &*even : nullptr), nullptr).algorithm;
}

Algorithm fastest_algorithm(const Fabric& fabric, const Collective& collective, const StridedGroup& group) {
  const std::optional<EvenGroup> even = EvenGroup::of(fabric, group);
  if (!even) return fastest_algorithm(fabric, collective, group.list());
  PODSIM_CHECK(group.front() >= 0 && group.back() < fabric.chips, "a group has chips of the fabric");
  return planned(fabric, collective, GroupMembers(group, *even), nullptr).algorithm;
}

std::vector<CollectivePlan> plans_of_sizes(const Fabric& fabric, CollectiveKind kind,
                                           std::span<const Bytes> sizes, std::span<const ChipId> group,
                                           const AlikeSlices* slices) {
  const std::optional<EvenGroup> even = EvenGroup::of(fabric, group);
  const GroupMembers ranks(group, even ? &*even : nullptr);
  std::map<const Entry*, std::optional<Phases>> known;  // of the first size
  const auto make = [&](const Entry& entry, const Collective& of) -> std::optional<CollectivePlan> {
    const auto [phases, is_new] = known.try_emplace(&entry);
    if (is_new) phases->second = phases_by(entry, fabric, {kind, sizes[0]}, ranks, slices);
    if (!phases->second) return std::nullopt;
    return over_network(fabric, of, entry.algorithm, ranks,
                        scaled(*phases->second, of.bytes.value / sizes[0].value));
  };
  std::vector<CollectivePlan> plans;
  check_group(fabric, {kind, sizes[0]}, group);
  for (const Bytes size : sizes) {
    int exponent = 0;
    PODSIM_CHECK(std::frexp(size.value / sizes[0].value, &exponent) == 0.5, "sizes differ by powers of two");
    plans.push_back(fastest(fabric, {kind, size}, ranks, make));
  }
  return plans;
}

std::vector<CollectivePlan> every_plan(const Fabric& fabric, const Collective& collective,
                                       std::span<const ChipId> group, const AlikeSlices* slices) {
  std::vector<CollectivePlan> plans;
  for (const Entry& entry : kAlgorithms) {
    if (!is_considered(fabric, collective.kind, group, entry.algorithm)) continue;
    std::optional<CollectivePlan> made = plan_by(entry, fabric, collective, GroupMembers(group), slices);
    if (made) plans.push_back(*std::move(made));
  }
  return plans;
}

std::optional<CollectivePlan> plan_with(Algorithm algorithm, const Fabric& fabric,
                                        const Collective& collective, std::span<const ChipId> group,
                                        const AlikeSlices* slices) {
  return plan_by(entry_of(algorithm), fabric, collective, GroupMembers(group), slices);
}

std::optional<EvenPlan> plan_evenly(Algorithm algorithm, const Fabric& fabric, const Collective& collective,
                                    const StridedGroup& group) {
  const std::optional<EvenGroup> even = EvenGroup::of(fabric, group);
  if (!even) return std::nullopt;
  auto made = even->plan_with_trunks(algorithm, collective, group);
  if (!made) return std::nullopt;
  return EvenPlan{
      over_network(fabric, collective, algorithm, GroupMembers(group, *even), std::move(made->phases)),
      std::move(made->trunks)};
}

}  // namespace podsim
