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

LinkId Fabric::link_between(NodeId from, NodeId to) const {
  const auto outgoing = out(from);
  const auto found = std::ranges::lower_bound(outgoing, to, {}, &Link::to);
  const LinkId link = out_first[from] + static_cast<LinkId>(found - outgoing.begin());
  return link < out_first[from + 1] && links[link].to == to ? link : -1;
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
