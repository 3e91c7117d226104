// Counts the links and switches of the built network.
#include "topology/part_counts.h"

#include <cmath>

#include "topology/fabric.h"
#include "topology/fabric_kind.h"

namespace podsim {
namespace {

bool is_fat_tree_switch(NodeKind kind) {
  return kind == NodeKind::kLeaf || kind == NodeKind::kSpine || kind == NodeKind::kCore;
}

}  // namespace

UsedParts count_parts(const FabricSpec& spec) {
  UsedParts parts;
  const Fabric fabric = build_fabric(spec);
  parts.chips = fabric.chips;
  parts.hosts = std::ceil(static_cast<double>(fabric.chips) / spec.chips_per_host);
  const ReplaceableUnit block = kind_of(spec).block(spec);
  if (block.side > 0 && spec.chips / spec.slices >= block.face_chips * block.side)
    parts.optical_switches = 1.0 * block.dimensions * block.face_chips * spec.slices;
  double nic_bandwidth = 0;
  for (const Link& link : fabric.links)
    if (link.kind == LinkKind::kNic) nic_bandwidth = link.bandwidth.value;
  for (const Link& link : fabric.links) {  // a direction each
    if (link.kind == LinkKind::kIci || link.kind == LinkKind::kIciOptical) parts.ici_links += 0.5;
    if (link.kind == LinkKind::kNic) parts.nics += 0.5;
    if (link.kind == LinkKind::kTrunk && nic_bandwidth > 0)  // a bundle of cables as fast as a NIC's
      parts.cables += 0.5 * std::round(link.bandwidth.value / nic_bandwidth);
  }
  parts.cables += parts.nics;
  for (const Node& node : fabric.nodes)
    if (is_fat_tree_switch(node.kind)) parts.switches += node.parallel;
  return parts;
}

}  // namespace podsim
