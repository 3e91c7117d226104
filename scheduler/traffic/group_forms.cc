// Numbers the nodes above a group in the order in which its members lead to them.
#include "scheduler/traffic/group_forms.h"

#include <bit>
#include <cstddef>
#include <map>

#include "engine/check.h"

namespace podsim {
namespace {

// [link] the other direction of its cable. Links are sorted by from and to, so that those into a node come in
// the order of the links out of it.
std::vector<LinkId> find_reverses(const Fabric& fabric) {
  std::vector<LinkId> next(fabric.out_first.begin(), fabric.out_first.end() - 1), reverse;
  reverse.reserve(fabric.links.size());
  for (const Link& link : fabric.links) reverse.push_back(next[link.to]++);
  return reverse;
}

bool leads_up(const Fabric& fabric, const Link& link) {
  return fabric.nodes[link.to].tier > fabric.nodes[link.from].tier;
}

void describe_link(const Link& link, std::vector<std::uint64_t>& text) {
  text.push_back(static_cast<std::uint64_t>(link.kind));
  text.push_back(std::bit_cast<std::uint64_t>(link.bandwidth.value));
  text.push_back(static_cast<std::uint64_t>(link.latency.ps));
}

}  // namespace

bool GroupForms::tell(const Fabric& fabric) {
  return !fabric.damaged && !fabric.individual_switches && fabric.slices.empty();
}

GroupForms::GroupForms(const Fabric& fabric) : fabric_(fabric), reverse_(find_reverses(fabric)) {
  PODSIM_CHECK(tell(fabric), "forms are of groups below switches");
  sort_nodes();
}

// What lies below a switch is not asked: members say what they are.
void GroupForms::sort_nodes() {
  std::map<std::vector<std::uint64_t>, std::int32_t> known;
  std::vector<std::uint64_t> text, before;
  standing_.reserve(fabric_.nodes.size());
  for (NodeId v = 0; v < static_cast<NodeId>(fabric_.nodes.size()); ++v) {
    const Node& node = fabric_.nodes[v];
    text = {static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.tier),
            static_cast<std::uint64_t>(node.parallel), fabric_.out(v).size()};
    for (LinkId l = fabric_.out_first[v]; l < fabric_.out_first[v + 1]; ++l) {
      if (v >= fabric_.chips && !leads_up(fabric_, fabric_.links[l])) continue;
      describe_link(fabric_.links[l], text);
      describe_link(fabric_.links[reverse_[l]], text);
    }
    if (text == before) {
      standing_.push_back(standing_.back());
      continue;
    }
    const auto sort = known.try_emplace(text, static_cast<std::int32_t>(known.size())).first->second;
    standing_.push_back({.sort = sort, .tier = node.tier});
    before = text;
  }
}

// Of a node of this tier.
void GroupForms::add_ways_up(std::int32_t tier, LinkId first, LinkId end) {
  for (LinkId l = first; l < end; ++l) {
    const NodeId above = fabric_.links[l].to;
    Standing& standing = standing_[above];
    if (standing.tier <= tier) continue;
    const bool is_new = standing.group != looks_;
    if (is_new) {
      standing.group = looks_;
      standing.place = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back(above);
    }
    form_.push_back(standing.place);
    form_.push_back(is_new ? standing.sort : -1);
  }
}

// Chips of a domain without a switch name each other by their places in it.
void GroupForms::look(std::span<const ChipId> group) {
  PODSIM_CHECK(!group.empty(), "a group has members");
  ++looks_;
  form_.clear();
  nodes_.assign(group.begin(), group.end());
  ChipId before = group.front();
  for (std::size_t i = 0; i < group.size(); ++i) {
    const ChipId chip = group[i];
    Standing& standing = standing_[chip];
    standing.group = looks_;
    standing.place = static_cast<std::int32_t>(i);
    form_.push_back(chip - before);
    form_.push_back(standing.sort);
    if (fabric_.nvlink_mesh) form_.push_back(chip % fabric_.gpus_per_domain);
    before = chip;
  }
  for (std::size_t i = 0; i < group.size(); ++i)
    add_ways_up(0, fabric_.out_first[group[i]], fabric_.out_first[group[i] + 1]);
  for (std::size_t begin = group.size(), end = nodes_.size(); end - begin > 1;
       begin = end, end = nodes_.size())
    for (std::size_t i = begin; i < end; ++i) {
      const NodeId node = nodes_[i];  // its last way alone leads up, if any does
      add_ways_up(standing_[node].tier, fabric_.out_first[node + 1] - 1, fabric_.out_first[node + 1]);
    }
}

LinkPlace GroupForms::place_of(LinkId link) const {
  const Link& carries = fabric_.links[link];
  const Standing &from = standing_[carries.from], &to = standing_[carries.to];
  PODSIM_CHECK(from.group == looks_ && to.group == looks_, "a group sends over what is above it");
  if (to.tier >= from.tier) return {from.place, link - fabric_.out_first[carries.from], false};
  return {to.place, reverse_[link] - fabric_.out_first[carries.to], true};
}

}  // namespace podsim
