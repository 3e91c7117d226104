// What rings, rails, trees and pairs put on the NVLink and the NIC of a chip.
#include "collectives/even_group.h"

#include <utility>
#include <vector>

namespace podsim {
namespace {

// Members in each domain of `size` chips; 0 where they are not as many, do not ascend, or have one domain.
std::size_t members_in_each(std::span<const ChipId> group, ChipId size) {
  const auto end_of_domain = [size](ChipId chip) { return (chip / size + 1) * size; };
  std::size_t members = 1;
  ChipId end = end_of_domain(group.front());
  while (members < group.size() && group[members] > group[members - 1] && group[members] < end) ++members;
  if (members == group.size() || group.size() % members != 0) return 0;
  for (std::size_t i = members; i < group.size(); ++i) {
    if (group[i] <= group[i - 1] || (group[i] >= end) != (i % members == 0)) return 0;
    if (i % members == 0) end = end_of_domain(group[i]);
  }
  return members;
}

}  // namespace

std::optional<EvenGroup> EvenGroup::of(const Fabric& fabric, std::span<const ChipId> group) {
  const RegularTree* tree = fabric.tree();
  if (tree == nullptr || fabric.damaged || !fabric.library || !fabric.channels.empty()) return std::nullopt;
  if (!tree->trunks_are_wide()) return std::nullopt;
  const std::size_t members = members_in_each(group, tree->domain());
  if (members == 0) return std::nullopt;
  return EvenGroup(fabric, group.front(), group.size(), members);
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
      if (collective.kind != CollectiveKind::kAllReduce || (switched && (!nvls_ || members_ == 1)))
        return std::nullopt;
      return alone(phase(trees(switched ? 1.0 : 2.0 * passed_on(members_)), collective.bytes));
    }
    default:
      return std::nullopt;
  }
}

std::optional<Phases> EvenGroup::plan_with_trunks(Algorithm algorithm, const Collective& collective,
                                                  std::span<const ChipId> group) const {
  const int passes = ring_passes(collective.kind);
  const bool rails = algorithm == Algorithm::kHierarchical, both = algorithm == Algorithm::kBidirectionalRing;
  if (passes == 0 || (!rails && !both && algorithm != Algorithm::kRing)) return std::nullopt;
  std::optional<Phases> phases = plan(algorithm, collective);
  if (!phases) return std::nullopt;
  LoadSum sum;
  add_trunks(!rails && domains_ % 2 == 1, both, group, sum);
  const bool inside_first = rails && collective.kind != CollectiveKind::kAllGather;
  std::vector<LinkLoad>& loads = (*phases)[inside_first ? 1 : 0].loads;
  const std::size_t ring = rails ? domains_ : ranks_;
  const std::vector<LinkLoad> trunks = sum.loads(collective.bytes * (passes * passed_on(ring)));
  loads.insert(loads.end(), trunks.begin(), trunks.end());
  return phases;
}

// From each domain to the next, and from the last to the first, where an odd number of domains makes channels
// change places (collectives/ring.cc).
void EvenGroup::add_trunks(bool closes_aside, bool both_ways, std::span<const ChipId> group,
                           LoadSum& sum) const {
  const double share = 1.0 / static_cast<double>(members_), units = both_ways ? share / 2 : share;
  const auto add = [&](ChipId from, ChipId to) {
    const LinkId first = tree_->nic_up(from), last = tree_->nic_down(to);
    tree_->route(from, to, [&](LinkId link) {
      if (link != first && link != last) sum.add(link, units);
    });
  };
  for (std::size_t at = 0; at < ranks_; ++at) {
    const bool closing = at + members_ >= ranks_;
    const std::size_t member = at % members_;
    const std::size_t to = closing ? (closes_aside ? (member + 1) % members_ : member) : at + members_;
    if (tree_->above(0, group[at]) == tree_->above(0, group[to])) continue;
    add(group[at], group[to]);
    if (both_ways) add(group[to], group[at]);
  }
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
