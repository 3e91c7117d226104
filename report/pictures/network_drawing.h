// Networks as SVG: tori plane by plane, chip by chip or cube by cube, everything else tier by tier.
#pragma once

#include "report/pictures/drawing.h"
#include "report/pictures/network_load.h"
#include "topology/fabric.h"

namespace podsim {

// Of a torus with more chips than can be told apart cubes are drawn, which say how many they hold. With a
// load, links have the colour of the share of their capacity that is used. `whole`: the network before parts
// failed or became slow, which are crossed out. REQUIRES: both have the same nodes; the load is of `fabric`.
Drawing network_drawing(const Fabric& fabric, const Fabric& whole, const NetworkLoad& load);

}  // namespace podsim
