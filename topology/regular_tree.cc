// Numbers of nodes and links by division.
#include "topology/regular_tree.h"

#include <algorithm>
#include <bit>
#include <climits>

#include "engine/check.h"
#include "topology/fat_tree.h"

namespace podsim {
namespace {

Link cable_of(LinkKind kind, const LinkSpec& spec, double count = 1) {
  return {0, 0, kind, spec.payload() * count, spec.latency};
}

Link between(Link cable, NodeId from, NodeId to) {
  cable.from = from;
  cable.to = to;
  return cable;
}

// a / b. Most sizes are powers of two, by which a shift divides in a fraction of the time.
std::int32_t quotient(std::int32_t a, std::int32_t b) {
  const auto divisor = static_cast<std::uint32_t>(b);
  return (divisor & (divisor - 1)) == 0 ? a >> std::countr_zero(divisor) : a / b;
}

std::int32_t remainder_of(std::int32_t a, std::int32_t b) { return a - quotient(a, b) * b; }

std::int32_t sets_of(const RegularTree::Tier& tier) { return quotient(tier.switches, tier.in_set); }

std::int32_t degree(const RegularTree::Tier& tier) { return tier.below + tier.leads_up; }
std::int32_t degree_last(const RegularTree::Tier& tier) { return tier.below_last + tier.leads_up; }

// Links out of all switches of the tier.
std::int64_t links_of(const RegularTree::Tier& tier) {
  return tier.in_set * (std::int64_t{sets_of(tier) - 1} * degree(tier) + degree_last(tier));
}

}  // namespace

bool RegularTree::tells(const FabricSpec& spec) {
  if (!spec.gpu || picks_switches(spec) || spec.gpu->nvlink_mesh) return false;
  const int domain = spec.gpu->gpus_per_domain;
  return domain > 0 && spec.chips > domain && spec.chips % domain == 0;
}

std::optional<RegularTree> RegularTree::of(const FabricSpec& spec) {
  if (!tells(spec)) return std::nullopt;
  const GpuClusterSpec& gpu = *spec.gpu;
  const int domains = spec.chips / gpu.gpus_per_domain;

  RegularTree tree;
  tree.chips_ = spec.chips;
  tree.domain_ = gpu.gpus_per_domain;
  tree.nic_ = cable_of(LinkKind::kNic, gpu.nic);
  tree.rails_ = gpu.rail_optimised;
  if (tree.domain_ > 1) {
    tree.nvlink_ = cable_of(LinkKind::kNvlink, gpu.nvlink);
    tree.ways_ = 2;
    tree.first_tier_ = 1;
    tree.tiers_.push_back({.kind = NodeKind::kNvSwitch,
                           .switches = domains,
                           .below = tree.domain_,
                           .below_last = tree.domain_});
  }
  const LeafCabling cabling = cable_leaves(gpu);
  const int sets = 1 + (domains - 1) / cabling.domains_per_group;
  const int last_domains = domains - (sets - 1) * cabling.domains_per_group;
  const int ports = tree.rails_ ? 1 : tree.domain_;  // of a domain on one leaf
  // Leaves may have far more ports than there are domains.
  tree.leaf_chips_ = std::min(cabling.domains_per_group, INT_MAX / tree.domain_) * tree.domain_;
  tree.tiers_.push_back({.kind = NodeKind::kLeaf,
                         .switches = sets * cabling.leaves_per_group,
                         .in_set = cabling.leaves_per_group,
                         .below = cabling.domains_per_group * ports,
                         .below_last = last_domains * ports});
  double cables = 1;
  for (std::size_t t = 1; tree.tiers_.back().switches > 1; ++t) {
    PODSIM_CHECK(t < gpu.tiers.size(), "the fat-tree has too few tiers for the chips");
    cables *= gpu.tiers[t - 1].down / gpu.tiers[t - 1].oversubscription;
    tree.tiers_.back().leads_up = true;
    tree.tiers_.back().up = cable_of(LinkKind::kTrunk, gpu.nic, cables);
    const int down = gpu.tiers[t].down, switches = tree.tiers_.back().switches;
    const int above = 1 + (switches - 1) / down;
    tree.tiers_.push_back({.kind = kind_of_tier(static_cast<int>(t) + 1),
                           .parallel = whole_cables(cables),
                           .switches = above,
                           .below = down,
                           .below_last = switches - (above - 1) * down});
  }
  std::int64_t nodes = spec.chips, links = std::int64_t{tree.ways_} * spec.chips;
  for (Tier& tier : tree.tiers_) {
    tier.first = static_cast<NodeId>(nodes);
    tier.first_link = static_cast<LinkId>(links);
    nodes += tier.switches;
    links += links_of(tier);
    PODSIM_CHECK(links <= INT_MAX, "links have numbers");
  }
  tree.nodes_ = static_cast<NodeId>(nodes);
  tree.links_ = static_cast<LinkId>(links);
  return tree;
}

bool RegularTree::trunks_are_wide() const {
  constexpr double kRounding = 1e-12;
  double below = nic_.bandwidth.value;
  for (std::size_t t = 0; t < tiers() && tier(t).leads_up; ++t) {
    double sum = 0;
    for (std::int32_t way = 0; way < tier(t).below; ++way) sum += below;
    below = tier(t).up.bandwidth.value;
    if (sum > below * (1 + kRounding)) return false;
  }
  return true;
}

bool RegularTree::rails_stay_together() const {
  return !tier(0).leads_up || tier(1).below % tier(0).in_set == 0;
}

std::int64_t RegularTree::chips_below(std::size_t t) const {
  PODSIM_CHECK(rails_stay_together(), "switches of equal numbers are below a switch");
  std::int64_t chips = leaf_chips_;
  for (std::size_t next = 1; next <= t; ++next) chips = chips / tier(next - 1).in_set * tier(next).below;
  return chips;
}

const RegularTree::Tier& RegularTree::tier_of_node(NodeId node) const {
  std::size_t t = tiers_.size() - 1;
  while (tiers_[t].first > node) --t;
  return tiers_[t];
}

Node RegularTree::node(std::size_t number) const {
  const auto node = static_cast<NodeId>(number);
  if (node < chips_) return {NodeKind::kChip, 0};
  const Tier& tier = tier_of_node(node);
  const auto all = &tier - tiers_.data();
  const auto level =
      all < static_cast<std::ptrdiff_t>(first_tier_) ? 1 : all - static_cast<std::ptrdiff_t>(first_tier_) + 1;
  return {tier.kind, static_cast<std::int8_t>(level), tier.parallel};
}

// All sets but the last are full.
LinkId RegularTree::first_out_of(const Tier& tier, std::int32_t of) const {
  const std::int32_t full = std::min(of, (sets_of(tier) - 1) * tier.in_set);
  return tier.first_link + full * degree(tier) + (of - full) * degree_last(tier);
}

LinkId RegularTree::first_out(std::size_t number) const {
  const auto node = static_cast<NodeId>(number);
  if (node < chips_) return ways_ * node;
  if (node >= nodes_) return links_;
  const Tier& tier = tier_of_node(node);
  return first_out_of(tier, node - tier.first);
}

std::int32_t RegularTree::switch_of_link(const Tier& tier, LinkId from_first) const {
  const std::int32_t full = (sets_of(tier) - 1) * tier.in_set;
  if (from_first < full * degree(tier)) return from_first / degree(tier);
  return full + (from_first - full * degree(tier)) / degree_last(tier);
}

// What is at the end of a way down.
NodeId RegularTree::below(std::size_t all, std::int32_t of, std::int32_t way) const {
  const Tier& tier = tiers_[all];
  if (all > first_tier_) return tiers_[all - 1].first + of * tier.below + way;
  if (all < first_tier_ || !rails_) return of * tier.below + way;
  const std::int32_t set = quotient(of, tier.in_set);
  return (set * tier.below + way) * domain_ + of - set * tier.in_set;
}

Link RegularTree::link(std::size_t number) const {
  const auto link = static_cast<LinkId>(number);
  if (link < tiers_.front().first_link) {
    const ChipId chip = link / ways_;
    if (ways_ == 2 && link % 2 == 0) return between(nvlink_, chip, chips_ + chip / domain_);
    return between(nic_, chip, above(0, chip));
  }
  std::size_t t = tiers_.size() - 1;
  while (tiers_[t].first_link > link) --t;
  const Tier& tier = tiers_[t];
  const std::int32_t of = switch_of_link(tier, link - tier.first_link);
  const std::int32_t way = link - first_out_of(tier, of);
  const NodeId from = tier.first + of;
  const std::int32_t ways_down =
      quotient(of, tier.in_set) == sets_of(tier) - 1 ? tier.below_last : tier.below;
  if (way == ways_down) return between(tier.up, from, tiers_[t + 1].first + of / tiers_[t + 1].below);
  const Link& cable = t < first_tier_ ? nvlink_ : t == first_tier_ ? nic_ : tiers_[t - 1].up;
  return between(cable, from, below(t, of, way));
}

const Link& RegularTree::cable(LinkId link) const {
  if (link < tiers_.front().first_link) return ways_ == 2 && link % 2 == 0 ? nvlink_ : nic_;
  std::size_t t = tiers_.size() - 1;
  while (tiers_[t].first_link > link) --t;
  const Tier& tier = tiers_[t];
  if (tier.leads_up) {
    const std::int32_t of = switch_of_link(tier, link - tier.first_link);
    if (link + 1 == (of + 1 == tier.switches ? tier.first_link + static_cast<LinkId>(links_of(tier))
                                             : first_out_of(tier, of + 1)))
      return tier.up;
  }
  return t < first_tier_ ? nvlink_ : t == first_tier_ ? nic_ : tiers_[t - 1].up;
}

TreeLink RegularTree::place(LinkId link) const {
  if (link < tiers_.front().first_link) return {quotient(link, ways_), ways_ == 2 && link % 2 == 0, false};
  std::size_t t = tiers_.size() - 1;
  while (tiers_[t].first_link > link) --t;
  const Tier& tier = tiers_[t];
  if (t < first_tier_) return {link - tier.first_link, true, true};
  const std::int32_t of = switch_of_link(tier, link - tier.first_link);
  const std::int32_t way = link - first_out_of(tier, of);
  const std::int32_t ways_down =
      quotient(of, tier.in_set) == sets_of(tier) - 1 ? tier.below_last : tier.below;
  if (way == ways_down) return {tier.first + of, false, false};
  return {below(t, of, way), false, true};
}

NodeId RegularTree::above(std::size_t t, ChipId chip) const {
  std::int32_t of = quotient(chip, leaf_chips_);
  if (rails_) of = of * tier(0).in_set + remainder_of(chip, domain_);
  for (std::size_t next = 1; next <= t; ++next) of = quotient(of, tier(next).below);
  return tier(t).first + of;
}

LinkId RegularTree::nic_down(ChipId chip) const {
  const std::int32_t of = above(0, chip) - tier(0).first, within = remainder_of(chip, leaf_chips_);
  return first_out_of(tier(0), of) + (rails_ ? quotient(within, domain_) : within);
}

LinkId RegularTree::trunk_up(std::size_t t, NodeId of) const {
  const std::int32_t own = of - tier(t).first;
  return (own + 1 == tier(t).switches ? tier(t).first_link + static_cast<LinkId>(links_of(tier(t)))
                                      : first_out_of(tier(t), own + 1)) -
         1;
}

LinkId RegularTree::trunk_down(std::size_t t, NodeId of) const {
  const std::int32_t own = of - tier(t).first, down = tier(t + 1).below;
  const std::int32_t above = quotient(own, down);
  return first_out_of(tier(t + 1), above) + own - above * down;
}

}  // namespace podsim
