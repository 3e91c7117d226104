// GPU clusters: NVLink domains, a NIC per GPU, and the fat-tree of leaves, spines and cores.
#include <algorithm>
#include <climits>

#include "engine/check.h"
#include "topology/builders.h"

namespace podsim {
namespace {

// Rounded up. REQUIRES: a, b >= 1. No intermediate exceeds a.
int ceil_divide(int a, int b) { return 1 + (a - 1) / b; }

// Leaves per group of `domains_per_group` consecutive domains: one of each rail, or a single one for whole
// domains.
struct LeafCabling {
  int domains_per_group;
  int leaves_per_group;
};

LeafCabling cable_leaves(const GpuClusterSpec& gpu) {
  const int down = gpu.tiers.front().down;
  if (gpu.rail_optimised) return {down, gpu.gpus_per_domain};
  return {down / gpu.gpus_per_domain, 1};
}

NodeKind kind_of_tier(int tier) {
  if (tier == 1) return NodeKind::kLeaf;
  return tier == 2 ? NodeKind::kSpine : NodeKind::kCore;
}

void add_domains(Fabric& fabric, const FabricSpec& spec, int domains) {
  if (spec.gpu->gpus_per_domain == 1) return;
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
    for (int i = 0; i < above; ++i) add_node(fabric, kind_of_tier(level), level);
    for (int i = 0; i < switches; ++i)
      add_cable(fabric, first_below + i, first_above + i / gpu.tiers[tier].down, LinkKind::kTrunk, gpu.nic,
                cables);
    switches = above;
  }
}

}  // namespace

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

void add_gpu_cluster(Fabric& fabric, const FabricSpec& spec) {
  const GpuClusterSpec& gpu = *spec.gpu;
  fabric.gpus_per_domain = gpu.gpus_per_domain;
  fabric.nvls = gpu.nvls;
  fabric.sharp = gpu.sharp;
  for (int chip = 0; chip < spec.chips; ++chip) add_node(fabric, NodeKind::kChip, 0);
  const int domains = ceil_divide(spec.chips, gpu.gpus_per_domain);
  add_domains(fabric, spec, domains);
  if (domains > 1) add_upper_tiers(fabric, gpu, add_leaves(fabric, spec, domains));
}

}  // namespace podsim
