// Fat-trees that grow with the cluster.
#pragma once

#include "topology/fabric_spec.h"

namespace podsim {

// GPUs that the fat-tree can join when every switch is full; at most INT_MAX.
int fat_tree_capacity(const GpuClusterSpec& gpu);

// Adds tiers like the last one until the tree can join so many GPUs, or has as many tiers as can be. What
// leads up from the last one that was there is oversubscribed as is stated for it. Returns how many were
// added.
int add_missing_tiers(GpuClusterSpec& gpu, int chips);

}  // namespace podsim
