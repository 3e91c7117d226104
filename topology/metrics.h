// Figures of a fabric that network architects ask for: diameter, hops, bisection, connectivity.
#pragma once

#include "topology/fabric.h"

namespace podsim {

struct FabricMetrics {
  int diameter_hops = 0;  // longest shortest path between chips, in links
  double mean_hops = 0;   // over ordered pairs of distinct chips
  // One direction, maximum flow from the chips [0, chips/2) to the rest; in a single slice the least over
  // this and the halves of each even dimension. Zero for one chip. To whole bytes per second.
  Bandwidth bisection;
  bool connected = false;  // every chip reaches every chip
};

// Hops are those of route(): over ICI inside a slice, over switches elsewhere, where no chip relays.
// O(chips * links): meant for fabrics of up to a few thousand chips.
FabricMetrics measure(const Fabric& fabric);

// Graphviz text of the fabric; parallel directions are drawn once.
std::string draw(const Fabric& fabric);

}  // namespace podsim
