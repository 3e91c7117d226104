// Numbers the switches above a group tier by tier, up to the first where one is above all.
#include "scheduler/traffic/tree_form.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {

void TreeForms::Numbers::clear() {
  seen_.clear();
  number_of_.clear();
  ascending_ = true;
  last_ = -1;
}

std::int32_t TreeForms::Numbers::find(NodeId node) const {
  if (!ascending_) {
    const auto known = number_of_.find(node);
    return known == number_of_.end() ? -1 : known->second;
  }
  const auto known = std::ranges::lower_bound(seen_, node);
  return known == seen_.end() || *known != node ? -1 : static_cast<std::int32_t>(known - seen_.begin());
}

std::int32_t TreeForms::Numbers::of(NodeId node) {
  if (node == last_) return last_number_;
  last_ = node;
  last_number_ = ascending_ && (seen_.empty() || node > seen_.back()) ? -1 : find(node);
  if (last_number_ >= 0) return last_number_;
  last_number_ = static_cast<std::int32_t>(seen_.size());
  if (ascending_ && last_number_ > 0 && node < seen_.back()) {
    ascending_ = false;
    for (std::int32_t i = 0; i < last_number_; ++i) number_of_.emplace(seen_[static_cast<std::size_t>(i)], i);
  }
  if (!ascending_) number_of_.emplace(node, last_number_);
  seen_.push_back(node);
  return last_number_;
}

// How many things each of the tier serves, by which a last one differs.
void TreeForms::add_switches(std::size_t t) {
  const RegularTree::Tier& tier = tree_.tier(t);
  const NodeId first_of_last = tier.first + tier.switches - tier.in_set;
  for (const NodeId node : numbers_.seen())
    form_.push_back(node >= first_of_last ? tier.below_last : tier.below);
}

// Above the leaves of members only the switches above switches are told: those above members follow.
std::span<const std::int32_t> TreeForms::form_of(std::span<const ChipId> group) {
  PODSIM_CHECK(!group.empty(), "a group has members");
  form_.clear();
  numbers_.clear();
  ChipId before = group.front();
  for (const ChipId chip : group) {
    form_.push_back(chip - before);
    form_.push_back(numbers_.of(chip / tree_.domain()));
    before = chip;
  }
  numbers_.clear();
  for (const ChipId chip : group) form_.push_back(numbers_.of(tree_.above(0, chip)));
  add_switches(0);
  for (std::size_t t = 1; t < tree_.tiers() && numbers_.seen().size() > 1; ++t) {
    below_ = numbers_.seen();
    numbers_.clear();
    for (const NodeId node : below_) form_.push_back(numbers_.of(tree_.parent(t - 1, node)));
    add_switches(t);
  }
  return form_;
}

// Every row is as the first: its chips' domains and leaves among each other.
void TreeForms::add_row(const StridedGroup& group) {
  numbers_.clear();
  for (const ChipId offset : group.offsets()) {
    form_.push_back(offset);
    form_.push_back(numbers_.of((group.front() + offset) / tree_.domain()));
  }
  numbers_.clear();
  for (const ChipId offset : group.offsets())
    form_.push_back(numbers_.of(tree_.above(0, group.front() + offset)));
}

// From each start on, the rows before the first that is the first below a switch; every switch after that has
// as many. Whether there are several.
bool TreeForms::add_borders(std::size_t t, const StridedGroup& group) {
  const auto full = static_cast<std::int32_t>(tree_.chips_below(t) / group.stride());
  std::int32_t switch_before = -1, rows_in_last = 0;
  bool several = false;
  for (const ChipId start : group.starts()) {
    const std::int32_t row = start / group.stride(), first = row / full;
    rows_in_last = row + group.rows() - 1;
    form_.push_back(first == switch_before);
    form_.push_back(std::min(group.rows(), full - row % full));
    several = several || (switch_before >= 0 && first != switch_before) || rows_in_last / full != first;
    switch_before = rows_in_last / full;
  }
  const RegularTree::Tier& tier = tree_.tier(t);
  const bool is_last = switch_before + 1 == tier.switches / tier.in_set;
  form_.push_back(is_last ? tier.below_last : tier.below);
  return several;
}

std::span<const std::int32_t> TreeForms::form_of(const StridedGroup& group) {
  const ChipId stride = group.stride(), in_row = group.front() % stride + group.offsets().back();
  if (!tree_.rails_stay_together() || stride % tree_.domain() != 0 ||
      tree_.chips_below_leaves() % stride != 0 || in_row >= stride)
    return form_of(group.list());
  form_.clear();
  add_row(group);
  bool several = numbers_.seen().size() > 1;
  for (const ChipId start : group.starts()) form_.push_back(start - group.front());
  for (std::size_t t = 0; t < tree_.tiers(); ++t) {
    const bool several_sets = add_borders(t, group);
    several = several_sets || (t == 0 && several);
    if (!several) break;
  }
  return form_;
}

}  // namespace podsim
