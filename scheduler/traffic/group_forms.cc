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

void describe(const Link& link, std::vector<std::uint64_t>& text) {
  text.push_back(static_cast<std::uint64_t>(link.kind));
  text.push_back(std::bit_cast<std::uint64_t>(link.bandwidth.value));
  text.push_back(static_cast<std::uint64_t>(link.latency.ps));
}

}  // namespace

bool GroupForms::tell(const Fabric& fabric) {
  return !fabric.damaged && !fabric.individual_switches && fabric.slices.empty();
}

GroupForms::GroupForms(const Fabric& fabric)
    : fabric_(fabric),
      reverse_(find_reverses(fabric)),
      group_(fabric.nodes.size(), 0),
      place_(fabric.nodes.size(), 0) {
  PODSIM_CHECK(tell(fabric), "forms are of groups below switches");
  sort_nodes();
}

// What lies below a switch is not asked: members say what they are.
void GroupForms::sort_nodes() {
  std::map<std::vector<std::uint64_t>, std::int32_t> known;
  std::vector<std::uint64_t> text, before;
  sort_.reserve(fabric_.nodes.size());
  for (NodeId v = 0; v < static_cast<NodeId>(fabric_.nodes.size()); ++v) {
    const Node& node = fabric_.nodes[v];
    text = {static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.tier),
            static_cast<std::uint64_t>(node.parallel), fabric_.out(v).size()};
    for (LinkId l = fabric_.out_first[v]; l < fabric_.out_first[v + 1]; ++l) {
      if (v >= fabric_.chips && !leads_up(fabric_, fabric_.links[l])) continue;
      describe(fabric_.links[l], text);
      describe(fabric_.links[reverse_[l]], text);
    }
    if (text == before) {
      sort_.push_back(sort_.back());
      continue;
    }
    sort_.push_back(known.try_emplace(text, static_cast<std::int32_t>(known.size())).first->second);
    before = text;
  }
}

void GroupForms::add_ways_up(NodeId node, LinkId first, LinkId end) {
  for (LinkId l = first; l < end; ++l) {
    const NodeId above = fabric_.links[l].to;
    if (fabric_.nodes[above].tier <= fabric_.nodes[node].tier) continue;
    const bool is_new = group_[above] != looks_;
    if (is_new) {
      group_[above] = looks_;
      place_[above] = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back(above);
    }
    form_.push_back(place_[above]);
    form_.push_back(is_new ? sort_[above] : -1);
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
    group_[chip] = looks_;
    place_[chip] = static_cast<std::int32_t>(i);
    form_.push_back(chip - before);
    form_.push_back(sort_[chip]);
    if (fabric_.nvlink_mesh) form_.push_back(chip % fabric_.gpus_per_domain);
    before = chip;
  }
  for (std::size_t i = 0; i < group.size(); ++i)
    add_ways_up(group[i], fabric_.out_first[group[i]], fabric_.out_first[group[i] + 1]);
  for (std::size_t begin = group.size(), end = nodes_.size(); end - begin > 1;
       begin = end, end = nodes_.size())
    for (std::size_t i = begin; i < end; ++i) {
      const NodeId node = nodes_[i];  // its last way alone leads up, if any does
      add_ways_up(node, fabric_.out_first[node + 1] - 1, fabric_.out_first[node + 1]);
    }
}

LinkPlace GroupForms::place_of(LinkId link) const {
  const Link& carries = fabric_.links[link];
  PODSIM_CHECK(group_[carries.from] == looks_ && group_[carries.to] == looks_,
               "a group sends over what is above it");
  if (fabric_.nodes[carries.to].tier >= fabric_.nodes[carries.from].tier)
    return {place_[carries.from], link - fabric_.out_first[carries.from], false};
  return {place_[carries.to], reverse_[link] - fabric_.out_first[carries.to], true};
}

}  // namespace podsim
