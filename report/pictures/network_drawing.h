// Networks as SVG: tori plane by plane, chip by chip or cube by cube, everything else tier by tier.
#pragma once

#include <optional>

#include "report/pictures/drawing.h"
#include "report/pictures/network_load.h"
#include "topology/fabric.h"

namespace podsim {

inline constexpr int kMostDrawnCubes = 4096;  // of a torus, of 4 x 4 x 4 chips each

// Nothing where a torus has more cubes than can be told apart. With a load, links have the colour of the
// share of their capacity that is used. `whole`: the network before parts failed or became slow, which are
// crossed out. REQUIRES: both have the same nodes; the load is of `fabric`.
std::optional<Drawing> network_drawing(const Fabric& fabric, const Fabric& whole, const NetworkLoad& load);

}  // namespace podsim
