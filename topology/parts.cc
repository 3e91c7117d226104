// Numbers the parts of a fabric and finds their chips and links.
#include "topology/parts.h"

#include <algorithm>
#include <span>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::string_view kKindNames[kPartKinds] = {"chip",        "host",  "nic",          "nvlink",
                                                     "ici",         "dcn",   "nvswitch",     "leaf",
                                                     "leaf_uplink", "spine", "spine_uplink", "core"};
constexpr std::string_view kDomainNames[kDomains] = {"none",  "host", "nvlink_domain", "cube", "leaf",
                                                     "slice", "all"};

NodeKind node_kind(PartKind kind) {
  switch (kind) {
    case PartKind::kNvSwitch:
      return NodeKind::kNvSwitch;
    case PartKind::kLeaf:
    case PartKind::kLeafUplink:
      return NodeKind::kLeaf;
    case PartKind::kSpine:
    case PartKind::kSpineUplink:
      return NodeKind::kSpine;
    case PartKind::kDcn:
      return NodeKind::kHost;
    default:
      return NodeKind::kCore;
  }
}

LinkKind link_kind(PartKind kind) {
  return kind == PartKind::kNic   ? LinkKind::kNic
         : kind == PartKind::kIci ? LinkKind::kIci
                                  : LinkKind::kNvlink;
}

ListRange<Fabric::Nodes, Node> nodes_of(const Fabric& fabric, NodeKind kind) {
  return {std::ranges::lower_bound(fabric.nodes, kind, {}, &Node::kind),
          std::ranges::upper_bound(fabric.nodes, kind, {}, &Node::kind)};
}

}  // namespace

std::string_view to_string(PartKind kind) { return kKindNames[static_cast<int>(kind)]; }
std::string_view to_string(Domain domain) { return kDomainNames[static_cast<int>(domain)]; }

int host_of(const FabricSpec& spec, ChipId chip) {
  const int of_slice = spec.chips / spec.slices, hosts_of_slice = 1 + (of_slice - 1) / spec.chips_per_host;
  return chip / of_slice * hosts_of_slice + chip % of_slice / spec.chips_per_host;
}

int host_count(const FabricSpec& spec) { return host_of(spec, spec.chips - 1) + 1; }

std::vector<ChipId> chips_of_host(const FabricSpec& spec, int host) {
  std::vector<ChipId> chips;
  const int of_slice = spec.chips / spec.slices, hosts_of_slice = 1 + (of_slice - 1) / spec.chips_per_host;
  const ChipId first = host / hosts_of_slice * of_slice + host % hosts_of_slice * spec.chips_per_host;
  for (ChipId chip = first; chip < spec.chips && host_of(spec, chip) == host; ++chip) chips.push_back(chip);
  return chips;
}

Parts::Parts(const Fabric& fabric, int chips_per_host)
    : fabric_(fabric),
      chips_per_host_(chips_per_host),
      slice_chips_(fabric.slices.empty() ? fabric.chips : fabric.slices.front().chips()),
      hosts_per_slice_(1 + (slice_chips_ - 1) / chips_per_host) {
  PODSIM_CHECK(chips_per_host > 0 && fabric.chips > 0, "hosts have chips");
}

int Parts::count(PartKind kind) const {
  if (kind == PartKind::kChip) return fabric_.chips;
  if (kind == PartKind::kHost) return hosts_per_slice_ * (fabric_.chips / slice_chips_);
  if (kind == PartKind::kDcn || is_switch(kind)) {
    const int nodes = static_cast<int>(nodes_of(fabric_, node_kind(kind)).size());
    return nodes > 0 && links(kind, 0).empty() ? 0 : nodes;
  }
  const auto first = fabric_.out(0);
  const bool has = std::ranges::any_of(first, [&](const Link& l) { return is_of_kind(l, link_kind(kind)); });
  return has ? fabric_.chips : 0;
}

std::vector<ChipId> Parts::chips(PartKind kind, int number) const {
  if (is_switch(kind)) return {};
  if (kind != PartKind::kHost && kind != PartKind::kDcn) return {number};
  std::vector<ChipId> chips;
  const ChipId first = first_chip(kind, number);
  const ChipId end = std::min(first + chips_per_host_, (number / hosts_per_slice_ + 1) * slice_chips_);
  for (ChipId chip = first; chip < end; ++chip) chips.push_back(chip);
  return chips;
}

std::vector<LinkId> Parts::links(PartKind kind, int number) const {
  std::vector<LinkId> links;
  if (computes(kind)) return links;
  if (is_switch(kind) || kind == PartKind::kDcn) {
    const bool all =
        kind != PartKind::kLeafUplink && kind != PartKind::kSpineUplink && kind != PartKind::kDcn;
    add_links_up(switch_node(kind, number), all, links);
  } else {
    add_links_of(number, link_kind(kind), links);
  }
  std::sort(links.begin(), links.end());
  return links;
}

void Parts::add_links_of(NodeId node, LinkKind kind, std::vector<LinkId>& links) const {
  for (LinkId out = fabric_.out_first[node]; out < fabric_.out_first[node + 1]; ++out) {
    if (!is_of_kind(fabric_.links[out], kind)) continue;
    links.push_back(out);
    links.push_back(fabric_.link_between(fabric_.links[out].to, node));
  }
}

void Parts::add_links_up(NodeId node, bool all, std::vector<LinkId>& links) const {
  for (LinkId out = fabric_.out_first[node]; out < fabric_.out_first[node + 1]; ++out) {
    const NodeId other = fabric_.links[out].to;
    if (!all && fabric_.nodes[other].tier <= fabric_.nodes[node].tier) continue;
    links.push_back(out);
    links.push_back(fabric_.link_between(other, node));
  }
}

NodeId Parts::switch_node(PartKind kind, int number) const {
  const auto nodes = nodes_of(fabric_, node_kind(kind));
  return static_cast<NodeId>(nodes.begin() - fabric_.nodes.begin()) + number;
}

ChipId Parts::first_chip(PartKind kind, int number) const {
  if (kind != PartKind::kHost && kind != PartKind::kDcn) return number;
  return number / hosts_per_slice_ * slice_chips_ + number % hosts_per_slice_ * chips_per_host_;
}

int Parts::host_of(ChipId chip) const {
  return chip / slice_chips_ * hosts_per_slice_ + chip % slice_chips_ / chips_per_host_;
}

int Parts::cube_of(ChipId chip) const {
  const TorusSlice& slice = *fabric_.slice_of(chip);
  const std::array<int, 3> at = slice.coordinate(chip);
  int cube = 0;
  for (int d = 2; d >= 0; --d) cube = cube * (1 + (slice.shape[d] - 1) / slice.cube) + at[d] / slice.cube;
  return cube + chip / slice_chips_ * slice_chips_;  // a slice has no more cubes than chips
}

bool Parts::has(Domain domain) const {
  switch (domain) {
    case Domain::kNvlinkDomain:
      return fabric_.gpus_per_domain > 1;
    case Domain::kCube:
      return !fabric_.slices.empty() && fabric_.slices.front().cube > 0;
    case Domain::kLeaf:
      return count(PartKind::kNic) > 0;
    case Domain::kSlice:
      return fabric_.slices.size() > 1;
    default:
      return true;
  }
}

int Parts::domain_of(Domain domain, PartKind kind, int number) const {
  if (domain == Domain::kAll) return 0;
  if (domain == Domain::kNone || is_switch(kind)) return number;
  const ChipId chip = first_chip(kind, number);
  switch (domain) {
    case Domain::kHost:
      return host_of(chip);
    case Domain::kNvlinkDomain:
      return chip / fabric_.gpus_per_domain;
    case Domain::kCube:
      return cube_of(chip);
    case Domain::kLeaf:
      return fabric_.links[fabric_.out_first[chip + 1] - 1].to;
    default:
      return chip / slice_chips_;
  }
}

}  // namespace podsim
