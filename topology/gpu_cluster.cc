// GPU clusters: NVLink domains, a NIC per GPU, and the fat-tree of leaves, spines and cores.
#include <algorithm>
#include <climits>
#include <cmath>

#include "engine/check.h"
#include "topology/builders.h"
#include "topology/fat_tree.h"

namespace podsim {
namespace {

// Rounded up. REQUIRES: a, b >= 1. No intermediate exceeds a.
int ceil_divide(int a, int b) { return 1 + (a - 1) / b; }

void add_mesh_domains(Fabric& fabric, const FabricSpec& spec) {
  const int size = spec.gpu->gpus_per_domain;
  for (ChipId chip = 0; chip < spec.chips; ++chip)
    for (ChipId peer = chip + 1; peer < std::min(spec.chips, (chip / size + 1) * size); ++peer)
      add_cable(fabric, chip, peer, LinkKind::kNvlink, spec.gpu->nvlink, 1.0 / (size - 1));
}

void add_switched_domains(Fabric& fabric, const FabricSpec& spec, int domains) {
  for (int d = 0; d < domains; ++d) add_node(fabric, NodeKind::kNvSwitch, 1);
  for (ChipId chip = 0; chip < spec.chips; ++chip) {
    const NodeId nvswitch = spec.chips + chip / spec.gpu->gpus_per_domain;
    add_cable(fabric, chip, nvswitch, LinkKind::kNvlink, spec.gpu->nvlink);
  }
}

// Leaves are numbered group by group and, within a group, rail by rail: consecutive leaves are a scalable
// unit.
int add_leaves(Fabric& fabric, const FabricSpec& spec, int domains) {
  const GpuClusterSpec& gpu = *spec.gpu;
  const LeafCabling cabling = cable_leaves(gpu);
  const NodeId first_leaf = static_cast<NodeId>(fabric.nodes.size());
  const int leaves = ceil_divide(domains, cabling.domains_per_group) * cabling.leaves_per_group;
  for (int leaf = 0; leaf < leaves; ++leaf) add_node(fabric, NodeKind::kLeaf, 1);
  for (ChipId chip = 0; chip < spec.chips; ++chip) {
    const int group = chip / gpu.gpus_per_domain / cabling.domains_per_group;
    const int rail = chip % gpu.gpus_per_domain % cabling.leaves_per_group;
    add_cable(fabric, chip, first_leaf + group * cabling.leaves_per_group + rail, LinkKind::kNic, gpu.nic);
  }
  return leaves;
}

// The same tiers with every parallel switch as a node. Plane p of a tier is joined by uplink p % uplinks of
// plane p / uplinks below; switches are numbered group by group and, within a group, plane by plane.
void add_individual_tiers(Fabric& fabric, const GpuClusterSpec& gpu, int switches) {
  int planes = 1;
  for (std::size_t tier = 1; switches > 1; ++tier) {
    const int uplinks = whole_uplinks(gpu.tiers[tier - 1]);
    const int planes_above = planes * uplinks;
    const int above = ceil_divide(switches, gpu.tiers[tier].down);
    const NodeId first_above = static_cast<NodeId>(fabric.nodes.size());
    const NodeId first_below = first_above - switches * planes;
    const int level = static_cast<int>(tier) + 1;
    for (int i = 0; i < above * planes_above; ++i) add_node(fabric, kind_of_tier(level), level);
    for (int i = 0; i < switches * planes; ++i) {
      const int group = i / planes / gpu.tiers[tier].down, plane = i % planes;
      for (int up = 0; up < uplinks; ++up)
        add_cable(fabric, first_below + i, first_above + group * planes_above + plane * uplinks + up,
                  LinkKind::kTrunk, gpu.nic);
    }
    fabric.individual_switches = true;
    planes = planes_above;
    switches = above;
  }
}

// Adds tiers until one node joins everything. `cables` = NIC cables' worth of one switch's uplinks.
void add_upper_tiers(Fabric& fabric, const GpuClusterSpec& gpu, int switches) {
  double cables = 1;
  for (std::size_t tier = 1; switches > 1; ++tier) {
    PODSIM_CHECK(tier < gpu.tiers.size(), "the fat-tree has too few tiers for the chips");
    cables *= gpu.tiers[tier - 1].down / gpu.tiers[tier - 1].oversubscription;
    const NodeId first_above = static_cast<NodeId>(fabric.nodes.size());
    const NodeId first_below = first_above - switches;
    const int above = ceil_divide(switches, gpu.tiers[tier].down);
    const int level = static_cast<int>(tier) + 1;
    for (int i = 0; i < above; ++i)
      fabric.nodes[add_node(fabric, kind_of_tier(level), level)].parallel = whole_cables(cables);
    for (int i = 0; i < switches; ++i)
      add_cable(fabric, first_below + i, first_above + i / gpu.tiers[tier].down, LinkKind::kTrunk, gpu.nic,
                cables);
    switches = above;
  }
}

}  // namespace

LeafCabling cable_leaves(const GpuClusterSpec& gpu) {
  const int down = gpu.tiers.front().down;
  if (gpu.rail_optimised) return {down, gpu.gpus_per_domain};
  return {down / gpu.gpus_per_domain, 1};
}

NodeKind kind_of_tier(int tier) {
  if (tier == 1) return NodeKind::kLeaf;
  return tier == 2 ? NodeKind::kSpine : NodeKind::kCore;
}

int whole_cables(double cables) { return static_cast<int>(std::clamp(std::round(cables), 1.0, 1e9)); }

int whole_uplinks(const FatTreeTier& tier) {
  const double uplinks = tier.down / tier.oversubscription, whole = std::round(uplinks);
  return whole >= 1 && std::abs(uplinks - whole) < 1e-9 * whole ? static_cast<int>(whole) : 0;
}

bool picks_switches(const FabricSpec& spec) {
  return spec.gpu && (spec.routing == Routing::kEcmp || spec.routing == Routing::kStatic);
}

IndividualTree size_individual_tree(const FabricSpec& spec) {
  constexpr std::int64_t kMost = INT64_MAX / 2;
  const GpuClusterSpec& gpu = *spec.gpu;
  const LeafCabling cabling = cable_leaves(gpu);
  std::int64_t switches =
      std::int64_t{ceil_divide(ceil_divide(spec.chips, gpu.gpus_per_domain), cabling.domains_per_group)} *
      cabling.leaves_per_group;
  IndividualTree size;
  for (std::int64_t planes = 1; switches > 1; ++size.tiers) {
    const std::int64_t uplinks = whole_uplinks(gpu.tiers[size.tiers]);
    if (uplinks > kMost / (planes * switches) - size.cables) return {size.tiers + 1, kMost};
    planes *= uplinks;
    size.cables += switches * planes;
    switches = 1 + (switches - 1) / gpu.tiers[size.tiers + 1].down;
  }
  return size;
}

int tiers_in_use(const FabricSpec& spec) {
  const GpuClusterSpec& gpu = *spec.gpu;
  const int domains = ceil_divide(spec.chips, gpu.gpus_per_domain);
  if (domains == 1) return 0;
  const LeafCabling cabling = cable_leaves(gpu);
  int switches = ceil_divide(domains, cabling.domains_per_group) * cabling.leaves_per_group, tiers = 1;
  for (; switches > 1; ++tiers)
    switches = ceil_divide(switches, gpu.tiers[static_cast<std::size_t>(tiers)].down);
  return tiers;
}

int fat_tree_capacity(const GpuClusterSpec& gpu) {
  if (gpu.tiers.empty()) return gpu.gpus_per_domain;
  std::int64_t leaves = 1;
  for (std::size_t tier = 1; tier < gpu.tiers.size(); ++tier)
    leaves = std::min<std::int64_t>(leaves * gpu.tiers[tier].down, INT_MAX);
  const LeafCabling cabling = cable_leaves(gpu);
  const std::int64_t domains =
      std::min<std::int64_t>(leaves / cabling.leaves_per_group * cabling.domains_per_group, INT_MAX);
  return static_cast<int>(
      std::clamp<std::int64_t>(domains * gpu.gpus_per_domain, gpu.gpus_per_domain, INT_MAX));
}

int add_missing_tiers(GpuClusterSpec& gpu, int chips) {
  const bool can_grow = !gpu.tiers.empty() && gpu.tiers.back().down > 1;
  int added = 0;
  while (can_grow && gpu.tiers.size() < kMaxFatTreeTiers && fat_tree_capacity(gpu) < chips) {
    gpu.tiers.push_back(gpu.tiers.back());
    ++added;
  }
  return added;
}

void set_domains(Fabric& fabric, const GpuClusterSpec& gpu) {
  fabric.gpus_per_domain = gpu.gpus_per_domain;
  fabric.nvlink_mesh = gpu.nvlink_mesh;
  fabric.nvls = gpu.nvls;
  fabric.sharp = gpu.sharp;
}

void add_gpu_cluster(Fabric& fabric, const FabricSpec& spec) {
  const GpuClusterSpec& gpu = *spec.gpu;
  set_domains(fabric, gpu);
  add_chips(fabric, spec.chips);
  // Chips of most clusters have two cables, and there is a switch to each few dozen of them.
  constexpr std::size_t kLinksOfChip = 4;
  fabric.links.reserve((kLinksOfChip * static_cast<std::size_t>(spec.chips)) * 9 / 8);
  const int domains = ceil_divide(spec.chips, gpu.gpus_per_domain);
  if (gpu.gpus_per_domain > 1)
    gpu.nvlink_mesh ? add_mesh_domains(fabric, spec) : add_switched_domains(fabric, spec, domains);
  if (domains == 1) return;
  const int leaves = add_leaves(fabric, spec, domains);
  picks_switches(spec) ? add_individual_tiers(fabric, gpu, leaves) : add_upper_tiers(fabric, gpu, leaves);
}

}  // namespace podsim
