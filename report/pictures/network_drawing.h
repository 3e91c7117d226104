// Networks as SVG: tori plane by plane, everything else tier by tier.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/report.h"
#include "topology/fabric.h"

namespace podsim {

inline constexpr int kMostDrawnChips = 4096;  // of a torus

// Nothing where a torus has more chips than can be told apart. With `load`, links have the colour of the
// share of their capacity that is used: that of the busiest link of their kind. `whole`: the network before
// parts failed, which are crossed out. REQUIRES: both have the same nodes.
std::optional<std::string> network_drawing(const Fabric& fabric, const Fabric& whole,
                                           std::span<const LinkUse> load);

}  // namespace podsim
