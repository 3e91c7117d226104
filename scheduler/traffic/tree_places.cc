// Finds the members below links, and the switches above members.
#include "scheduler/traffic/tree_places.h"

#include <algorithm>
#include <unordered_map>

#include "engine/check.h"

namespace podsim {

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
  return way_of_tier(t, link.down);
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

}  // namespace podsim
