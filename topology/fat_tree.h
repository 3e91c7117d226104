// Fat-trees of GPU clusters: how they are cabled, what they hold, and how they grow with the cluster.
#pragma once

#include "topology/fabric_spec.h"
#include "topology/node_link.h"

namespace podsim {

// Leaves per group of `domains_per_group` consecutive domains: one of each rail, or a single one for whole
// domains.
struct LeafCabling {
  int domains_per_group;
  int leaves_per_group;
};
LeafCabling cable_leaves(const GpuClusterSpec& gpu);

// 1 = leaves.
NodeKind kind_of_tier(int tier);

// One cable of a bundle leads to each of the parallel switches above.
int whole_cables(double cables);

// Uplinks of one switch of this tier where parallel switches are nodes; 0 where they do not come out whole.
int whole_uplinks(const FatTreeTier& tier);

// Does the routing of this fabric need parallel switches as nodes of their own?
bool picks_switches(const FabricSpec& spec);

// Tiers of switches that are built to join the chips; 0 where one domain holds them all. All but the last
// have uplinks. REQUIRES: a GPU cluster that can be built.
int tiers_in_use(const FabricSpec& spec);

// GPUs that the fat-tree can join when every switch is full; at most INT_MAX.
int fat_tree_capacity(const GpuClusterSpec& gpu);

// Adds tiers like the last one until the tree can join so many GPUs, or has as many tiers as can be. What
// leads up from the last one that was there is oversubscribed as is stated for it. Returns how many were
// added.
int add_missing_tiers(GpuClusterSpec& gpu, int chips);

}  // namespace podsim
