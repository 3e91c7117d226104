// How many parts of each kind a job on a network uses, of those that can fail.
#pragma once

#include "topology/fabric_spec.h"

namespace podsim {

struct UsedParts {
  double chips = 0, hosts = 0;
  double ici_links = 0;         // cables between chips of a torus, copper and optical
  double optical_switches = 0;  // of the pods: opposite faces of cubes lead to one for each chip of a face
  double nics = 0;
  double cables = 0;    // of a fat-tree, from NICs to leaves and between switches
  double switches = 0;  // of a fat-tree
};

// REQUIRES: the spec is valid.
UsedParts count_parts(const FabricSpec& spec);

}  // namespace podsim
