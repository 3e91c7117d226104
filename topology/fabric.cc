// Looking things up in a fabric, naming its parts, and degrading its links.
#include "topology/fabric.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
bool is_of_kind(const Link& link, LinkKind kind) {
  return link.kind == kind || (kind == LinkKind::kIci && link.kind == LinkKind::kIciOptical);
}

std::string_view to_string(NodeKind kind) {
  switch (kind) {
    case NodeKind::kChip:
      return "chip";
    case NodeKind::kNvSwitch:
      return "nvswitch";
    case NodeKind::kLeaf:
      return "leaf";
    case NodeKind::kSpine:
      return "spine";
    case NodeKind::kCore:
      return "core";
    case NodeKind::kHost:
      return "host";
    case NodeKind::kDcn:
      return "dcn";
  }
  return "unknown";
}

std::string_view to_string(LinkKind kind) {
  switch (kind) {
    case LinkKind::kIci:
      return "ici";
    case LinkKind::kIciOptical:
      return "ici_optical";
    case LinkKind::kNvlink:
      return "nvlink";
    case LinkKind::kNic:
      return "nic";
    case LinkKind::kTrunk:
      return "trunk";
    case LinkKind::kPcie:
      return "pcie";
    case LinkKind::kDcn:
      return "dcn";
  }
  return "unknown";
}

std::string node_name(const Fabric& fabric, NodeId node) {
  const NodeKind kind = fabric.nodes[node].kind;
  const auto first = std::ranges::lower_bound(fabric.nodes, kind, {}, &Node::kind);
  return std::string(to_string(kind)) + ' ' + std::to_string(node - (first - fabric.nodes.begin()));
}

const TorusSlice* Fabric::slice_of(ChipId chip) const {
  const auto after = std::ranges::upper_bound(slices, chip, {}, &TorusSlice::first_chip);
  return after == slices.begin() ? nullptr : &*std::prev(after);
}

namespace {

// By division, where a search would ask the rule for several links.
LinkId link_in_tree(const RegularTree& tree, NodeId from, NodeId to) {
  const NodeId lower = std::min(from, to), upper = std::max(from, to);
  const bool up = from < to;
  if (lower < tree.chips()) {
    if (upper == tree.above(0, lower)) return up ? tree.nic_up(lower) : tree.nic_down(lower);
    if (tree.domain() == 1 || upper != tree.chips() + lower / tree.domain()) return -1;
    return up ? tree.nvlink_up(lower) : tree.nvlink_down(lower);
  }
  std::size_t t = tree.tiers() - 1;
  while (t > 0 && tree.tier(t).first > lower) --t;
  if (lower < tree.tier(t).first || !tree.tier(t).leads_up) return -1;
  const RegularTree::Tier& above = tree.tier(t + 1);
  if (upper != above.first + (lower - tree.tier(t).first) / above.below) return -1;
  return up ? tree.trunk_up(t, lower) : tree.trunk_down(t, lower);
}

template <class Links>
LinkId find_link(const Links& links, LinkId first, LinkId end, NodeId to) {
  const auto after = links.begin() + end;
  const auto found = std::ranges::lower_bound(links.begin() + first, after, to, {}, &Link::to);
  return found != after && (*found).to == to ? static_cast<LinkId>(found - links.begin()) : -1;
}

}  // namespace

LinkId Fabric::link_between(NodeId from, NodeId to) const {
  if (const RegularTree* rule = tree()) return link_in_tree(*rule, from, to);
  const LinkId first = out_first[from], end = out_first[from + 1];
  const std::vector<Link>* list = links.list();
  return list ? find_link(*list, first, end, to) : find_link(links, first, end, to);
}

Fabric listed(Fabric fabric) {
  fabric.nodes.stored();
  fabric.links.stored();
  fabric.out_first.stored();
  return fabric;
}

Fabric with_slow_links(Fabric fabric, std::span<const SlowLink> slow) {
  for (const SlowLink& fault : slow) {
    PODSIM_CHECK(fault.factor > 0, "a link cannot have no bandwidth");
    for (LinkId out = fabric.out_first[fault.chip]; out < fabric.out_first[fault.chip + 1]; ++out) {
      if (!is_of_kind(fabric.links[out], fault.kind)) continue;
      const LinkId in = fabric.link_between(fabric.links[out].to, fault.chip);
      for (const LinkId link : {out, in})
        fabric.links[link].bandwidth = fabric.links[link].bandwidth * fault.factor;
    }
  }
  return fabric;
}

}  // namespace podsim
