// Finds the members below links, and the switches above members.
#include "scheduler/traffic/tree_places.h"

#include <algorithm>
#include <unordered_map>

#include "engine/check.h"

namespace podsim {
namespace {

std::size_t tier_of_way(TreeWay way) { return static_cast<std::size_t>((way - kOwnWays) / 2); }
bool way_leads_down(TreeWay way) { return way % 2 == 1; }

// Switches in the order in which members lead to them. Most groups have few.
class SeenSwitches {
 public:
  std::pair<std::int32_t, bool> number(NodeId node) {
    if (node == last_) return {last_number_, false};
    const auto next = static_cast<std::int32_t>(seen_.size());
    last_ = node;
    last_number_ = find(node);
    if (last_number_ >= 0) return {last_number_, false};
    seen_.push_back(node);
    if (seen_.size() > kFew) number_of_.emplace(node, next);
    if (seen_.size() == kFew)
      for (std::int32_t i = 0; i <= next; ++i) number_of_.emplace(seen_[static_cast<std::size_t>(i)], i);
    return {last_number_ = next, true};
  }
  std::size_t size() const { return seen_.size(); }
  void clear() {
    seen_.clear();
    number_of_.clear();
    last_ = -1;
  }

 private:
  static constexpr std::size_t kFew = 16;

  std::int32_t find(NodeId node) const {
    if (seen_.size() >= kFew) {
      const auto known = number_of_.find(node);
      return known == number_of_.end() ? -1 : known->second;
    }
    const auto known = std::ranges::find(seen_, node);
    return known == seen_.end() ? -1 : static_cast<std::int32_t>(known - seen_.begin());
  }

  std::vector<NodeId> seen_;
  std::unordered_map<NodeId, std::int32_t> number_of_;  // once they are not few
  NodeId last_ = -1;
  std::int32_t last_number_ = 0;
};

}  // namespace

TreeTrunks::TreeTrunks(const RegularTree& tree) : tree_(tree) {
  for (std::size_t t = 0; t < tree.tiers() && tree.tier(t).leads_up; ++t) {
    first_.push_back(count_);
    count_ += 2 * tree.tier(t).switches;
  }
}

std::int32_t TreeTrunks::above(ChipId chip, TreeWay way) const {
  PODSIM_CHECK(way >= kOwnWays, "links of a chip itself are no trunks");
  const std::size_t t = tier_of_way(way);
  return first_[t] + 2 * (tree_.above(t, chip) - tree_.tier(t).first) + way_leads_down(way);
}

LinkId TreeTrunks::link(std::int32_t trunk) const {
  PODSIM_CHECK(trunk >= 0 && trunk < count_, "trunks have numbers");
  std::size_t t = first_.size() - 1;
  while (first_[t] > trunk) --t;
  const std::int32_t own = trunk - first_[t];
  const NodeId node = tree_.tier(t).first + own / 2;
  return own % 2 == 1 ? tree_.trunk_down(t, node) : tree_.trunk_up(t, node);
}

TreeWay way_above(const RegularTree& tree, const TreeLink& link) {
  if (link.below < tree.chips()) return (link.nvlink ? kNvlinkUp : kNicUp) + link.down;
  std::size_t t = 0;
  while (t + 1 < tree.tiers() && tree.tier(t + 1).first <= link.below) ++t;
  return kOwnWays + 2 * static_cast<TreeWay>(t) + link.down;
}

LinkId link_above(const RegularTree& tree, ChipId chip, TreeWay way) {
  switch (way) {
    case kNvlinkUp:
      return tree.nvlink_up(chip);
    case kNvlinkDown:
      return tree.nvlink_down(chip);
    case kNicUp:
      return tree.nic_up(chip);
    case kNicDown:
      return tree.nic_down(chip);
    default: {
      const std::size_t t = tier_of_way(way);
      const NodeId node = tree.above(t, chip);
      return way_leads_down(way) ? tree.trunk_down(t, node) : tree.trunk_up(t, node);
    }
  }
}

std::int32_t TreeTrunks::of(const TreeLink& link) const {
  PODSIM_CHECK(link.below >= tree_.tier(0).first, "links of a chip itself are no trunks");
  std::size_t t = first_.size() - 1;
  while (tree_.tier(t).first > link.below) --t;
  return first_[t] + 2 * (link.below - tree_.tier(t).first) + link.down;
}

std::int32_t TreeTrunks::above_link(const TreeLink& link) const {
  if (first_.empty()) return -1;
  if (link.below < tree_.chips()) return 2 * (tree_.above(0, link.below) - tree_.tier(0).first) + link.down;
  std::size_t t = first_.size() - 1;
  while (tree_.tier(t).first > link.below) --t;
  if (t + 1 == first_.size()) return -1;
  return first_[t + 1] + 2 * (tree_.parent(t, link.below) - tree_.tier(t + 1).first) + link.down;
}

MembersBelow::MembersBelow(const RegularTree& tree, std::span<const ChipId> group)
    : tree_(tree), lowest_(static_cast<std::size_t>(tree.nodes() - tree.tier(0).first), -1) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    NodeId node = tree.above(0, group[i]);
    for (std::size_t t = 0; tree.tier(t).leads_up; ++t) {
      std::int32_t& lowest = lowest_[static_cast<std::size_t>(node - tree.tier(0).first)];
      if (lowest >= 0) break;
      lowest = static_cast<std::int32_t>(i);
      node = tree.parent(t, node);
    }
  }
}

std::int32_t MembersBelow::member(NodeId of) const {
  const std::int32_t lowest = lowest_[static_cast<std::size_t>(of - tree_.tier(0).first)];
  PODSIM_CHECK(lowest >= 0, "a group sends over what is above it");
  return lowest;
}

std::vector<TreePlace> places_of(const RegularTree& tree, std::span<const ChipId> group,
                                 std::span<const LinkId> links) {
  const MembersBelow below(tree, group);
  std::unordered_map<ChipId, std::int32_t> members;
  for (std::size_t i = 0; i < group.size(); ++i) members.emplace(group[i], static_cast<std::int32_t>(i));
  std::vector<TreePlace> places;
  places.reserve(links.size());
  for (const LinkId id : links) {
    const TreeLink link = tree.place(id);
    const bool own = link.below < tree.chips();
    places.push_back({own ? members.at(link.below) : below.member(link.below), way_above(tree, link)});
  }
  return places;
}

// Tier by tier up to the first where one switch is above all.
std::vector<std::int32_t> tree_form(const RegularTree& tree, std::span<const ChipId> group) {
  std::vector<std::int32_t> form;
  form.reserve(4 * group.size());
  SeenSwitches seen;
  ChipId before = group.front();
  for (const ChipId chip : group) {
    form.push_back(chip - before);
    form.push_back(seen.number(chip / tree.domain()).first);
    before = chip;
  }
  const std::size_t domains = seen.size();
  for (std::size_t t = 0; t < tree.tiers(); ++t) {
    const RegularTree::Tier& tier = tree.tier(t);
    seen.clear();
    for (const ChipId chip : group) {
      const NodeId node = tree.above(t, chip);
      const auto [number, is_new] = seen.number(node);
      form.push_back(number);
      if (!is_new) continue;
      const bool last = node - tier.first >= tier.switches - tier.in_set;
      form.push_back(last ? tier.below_last : tier.below);
    }
    if (seen.size() == 1) break;
  }
  form.push_back(static_cast<std::int32_t>(domains));
  return form;
}

}  // namespace podsim
