// Figures of a fabric that network architects ask for: diameter, hops, bisection, connectivity.
#pragma once

#include "topology/fabric.h"

namespace podsim {

struct FabricMetrics {
  int diameter_hops = 0;            // longest shortest path between chips, in links
  double mean_hops = 0;             // over ordered pairs of distinct chips
  Bandwidth bisection;              // one direction, across the halves [0, chips/2) and the rest, as a minimum cut
  bool connected = false;           // every chip reaches every chip
};

// O(chips * links): meant for fabrics of up to a few thousand chips.
FabricMetrics measure(const Fabric& fabric);

// Graphviz text of the fabric; parallel directions are drawn once.
std::string draw(const Fabric& fabric);

}  // namespace podsim
