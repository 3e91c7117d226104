// What rings, rails, trees and pairs put on the NVLink and the NIC of a chip.
#include "collectives/even_group.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace podsim {
namespace {

// Members in each domain of `size` chips; 0 where they are not as many or do not ascend.
std::size_t members_in_each(std::span<const ChipId> group, ChipId size) {
  const auto end_of_domain = [size](ChipId chip) { return (chip / size + 1) * size; };
  std::size_t members = 1;
  ChipId end = end_of_domain(group.front());
  while (members < group.size() && group[members] > group[members - 1] && group[members] < end) ++members;
  if (group.size() % members != 0) return 0;
  for (std::size_t i = members; i < group.size(); ++i) {
    if (group[i] <= group[i - 1] || (group[i] >= end) != (i % members == 0)) return 0;
    if (i % members == 0) end = end_of_domain(group[i]);
  }
  return members;
}

// Whether rows, and starts, are whole domains from each other and share none.
bool cuts_no_domain(const StridedGroup& group, ChipId size) {
  const std::vector<ChipId>& starts = group.starts();
  const auto domain = [&](std::size_t start, std::int32_t row, ChipId offset) {
    return (starts[start] + row * group.stride() + offset) / size;
  };
  const ChipId last = group.offsets().back();
  if (group.rows() > 1 && (group.stride() % size != 0 || domain(0, 0, last) == domain(0, 1, 0))) return false;
  for (std::size_t s = 1; s < starts.size(); ++s)
    if ((starts[s] - starts[0]) % size != 0 || domain(s - 1, group.rows() - 1, last) == domain(s, 0, 0))
      return false;
  return true;
}

// Whether plans of such groups have the library's latencies, and no link between switches is fuller than
// those of chips.
bool tells_even_groups(const Fabric& fabric) {
  return fabric.tree() != nullptr && !fabric.damaged && fabric.library && fabric.channels.empty() &&
         fabric.tree()->trunks_are_wide();
}

// So many contributions, one by one as LoadSum adds them up.
double sum_of(std::int64_t contributions, double each) {
  double sum = 0;
  for (; contributions > 0; --contributions) sum += each;
  return sum;
}

}  // namespace

EvenGroup::EvenGroup(const Fabric& fabric, std::size_t ranks, std::size_t members,
                     std::span<const ChipId> row, ChipId to_last)
    : fabric_(&fabric),
      tree_(fabric.tree()),
      chip_(row[0]),
      ranks_(ranks),
      members_(members),
      domains_(ranks / members) {
  const auto latency = [&](ChipId from, ChipId to) { return tree_->route(from, to, [](LinkId) {}); };
  shape_ = {static_cast<int>(ranks), static_cast<int>(domains_), static_cast<int>(members),
            members > 1 ? latency(chip_, row[1]) : Time{}, Time{}};
  // Of chips on one rail the last lies farthest.
  for (std::size_t i = 0; i < row.size(); i += members)
    for (const ChipId first : {row[i], row[i] + to_last})
      shape_.across = std::max(shape_.across, latency(chip_, first));
}

std::optional<EvenGroup> EvenGroup::of(const Fabric& fabric, std::span<const ChipId> group) {
  if (!tells_even_groups(fabric)) return std::nullopt;
  const std::size_t members = members_in_each(group, fabric.tree()->domain());
  if (members == 0 || members == group.size()) return std::nullopt;
  return EvenGroup(fabric, group.size(), members, group, 0);
}

std::optional<EvenGroup> EvenGroup::of(const Fabric& fabric, const StridedGroup& group) {
  if (!tells_even_groups(fabric) || !cuts_no_domain(group, fabric.tree()->domain())) return std::nullopt;
  std::vector<ChipId> row = group.offsets();
  for (ChipId& chip : row) chip += group.front();
  const std::size_t members = members_in_each(row, fabric.tree()->domain());
  if (members == 0 || members == group.size()) return std::nullopt;
  return EvenGroup(fabric, group.size(), members, row, group.back() - row.back());
}

// In several domains no switch reduces for all, and there is no torus.
bool EvenGroup::tells(Algorithm algorithm, const Collective& collective) const {
  switch (algorithm) {
    case Algorithm::kRing:
    case Algorithm::kBidirectionalRing:
      return collective.kind != CollectiveKind::kBroadcast;
    case Algorithm::kDirect:
      return collective.kind == CollectiveKind::kAllToAll && collective.receive_share.empty();
    case Algorithm::kTree:
      return collective.kind == CollectiveKind::kAllReduce;
    case Algorithm::kSharp:
      return !fabric_->sharp;
    case Algorithm::kHalvingDoubling:
    case Algorithm::kLogStep:
      return false;
    case Algorithm::kHierarchical:
      return collective.receive_share.empty();
    case Algorithm::kTorus:
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree:
      break;
  }
  return true;
}

std::optional<Phases> EvenGroup::plan(Algorithm algorithm, const Collective& collective) const {
  const bool exchanges = collective.kind == CollectiveKind::kAllToAll && collective.receive_share.empty();
  const int passes = ring_passes(collective.kind);
  switch (algorithm) {
    case Algorithm::kRing:
    case Algorithm::kBidirectionalRing:
      if (passes == 0) return std::nullopt;
      return alone(phase(channels(), collective.bytes * (passes * passed_on(ranks_))));
    case Algorithm::kHierarchical:
      if (members_ == 1) return std::nullopt;
      if (exchanges) return exchange_by_rails(collective);
      return passes > 0 ? std::optional(rings_of_rails(collective, passes)) : std::nullopt;
    case Algorithm::kDirect:
      return exchanges ? std::optional(alone(phase(pairs(ranks_, members_), collective.bytes)))
                       : std::nullopt;
    case Algorithm::kTree:
    case Algorithm::kNvlsTree: {
      const bool switched = algorithm == Algorithm::kNvlsTree;
      if (collective.kind != CollectiveKind::kAllReduce || (switched && (!fabric_->nvls || members_ == 1)))
        return std::nullopt;
      return alone(phase(trees(switched ? 1.0 : 2.0 * passed_on(members_)), collective.bytes));
    }
    case Algorithm::kTorus:
    case Algorithm::kHalvingDoubling:
    case Algorithm::kNvls:
    case Algorithm::kLogStep:
    case Algorithm::kSharp:
      break;
  }
  return std::nullopt;
}

// Hops between domains go from each to the next, and from the last to the first, where an odd number of
// domains makes channels change places (collectives/ring.cc).
std::optional<EvenGroup::WithTrunks> EvenGroup::plan_with_trunks(Algorithm algorithm,
                                                                 const Collective& collective,
                                                                 const StridedGroup& group) const {
  const int passes = ring_passes(collective.kind);
  const bool rails = algorithm == Algorithm::kHierarchical, both = algorithm == Algorithm::kBidirectionalRing;
  if (passes == 0 || (!rails && !both && algorithm != Algorithm::kRing)) return std::nullopt;
  std::optional<Phases> phases = plan(algorithm, collective);
  if (!phases) return std::nullopt;
  RingTrunks ring(*tree_, both);
  ring.add_ring(group, members_, !rails && domains_ % 2 == 1);
  std::vector<std::pair<LinkId, AlikeTrunks>> trunks;
  for (const AlikeTrunks& alike : ring.take())
    trunks.emplace_back(
        alike.down ? tree_->trunk_down(alike.tier, alike.first) : tree_->trunk_up(alike.tier, alike.first),
        alike);
  std::ranges::sort(trunks, {}, [](const auto& each) { return each.first; });
  const bool inside_first = rails && collective.kind != CollectiveKind::kAllGather;
  const double share = 1.0 / static_cast<double>(members_), units = both ? share / 2 : share;
  const Bytes of_ring = collective.bytes * (passes * passed_on(rails ? domains_ : ranks_));
  WithTrunks made{*std::move(phases), {}};
  for (const auto& [link, alike] : trunks) {
    made.phases[inside_first ? 1 : 0].loads.push_back({link, sum_of(alike.hops, units) * of_ring.value});
    made.trunks.push_back(alike);
  }
  return made;
}

Phase EvenGroup::phase(const OwnShares& shares, Bytes bytes) const {
  Phase phase;
  if (shares.nvlink > 0) phase.loads.push_back({tree_->nvlink_up(chip_), shares.nvlink * bytes.value});
  if (shares.nic > 0) phase.loads.push_back({tree_->nic_up(chip_), shares.nic * bytes.value});
  return phase;
}

// As many rings as members: each chip is where one of them leaves the domain and another comes in.
EvenGroup::OwnShares EvenGroup::channels() const {
  const auto members = static_cast<double>(members_);
  return {static_cast<double>(members_ - 1) / members, 1.0 / members};
}

// One double tree for each member of a domain, added up as LoadSum adds up what comes one by one.
EvenGroup::OwnShares EvenGroup::trees(double nvlink) const {
  const double part = 1.0 / static_cast<double>(members_) / 2;
  double nic = 0;
  for (int sent = busiest_in_double_tree(domains_); sent > 0; --sent) nic += part;
  return {nvlink, nic};
}

// To each other rank the share of one.
EvenGroup::OwnShares EvenGroup::pairs(std::size_t ranks, std::size_t members) {
  const double each = 1.0 / static_cast<double>(ranks);
  return {each * static_cast<double>(members - 1), static_cast<double>(ranks - members) * each};
}

Phases EvenGroup::rings_of_rails(const Collective& collective, int passes) const {
  const Phase inside = phase({passed_on(members_), 0}, collective.bytes);
  Phase across =
      phase({0, 1.0 / static_cast<double>(members_)}, collective.bytes * (passes * passed_on(domains_)));
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
      return {inside, std::move(across)};
    case CollectiveKind::kAllGather:
      return {std::move(across), inside};
    default:
      return {inside, std::move(across), inside};
  }
}

// Inside the domain, and then rail by rail; where copies are made behind the rails, both at once.
Phases EvenGroup::exchange_by_rails(const Collective& collective) const {
  const Fanout& fanout = collective.fanout;
  const bool copies = fanout.copies > 1;
  const double share = copies ? domains_reached(fanout, static_cast<int>(domains_)) / fanout.copies : 1;
  Phase inside = phase({pairs(members_, members_).nvlink, 0}, collective.bytes);
  Phase across = phase({0, pairs(domains_, 1).nic}, collective.bytes * share);
  if (!copies) return {std::move(inside), std::move(across)};
  inside.loads.insert(inside.loads.end(), across.loads.begin(), across.loads.end());
  return {std::move(inside)};
}

}  // namespace podsim
