// The narrowest place of a fabric between two sets of chips: a minimum cut, by maximum flow.
#pragma once

#include <span>

#include "topology/fabric.h"

namespace podsim {

// Most bytes per second that can go from the chips `from` to the chips `to` at once, whichever ways they take
// and whoever forwards: the least sum of bandwidths of links without which nothing leads there. To whole
// bytes per second; zero where a set is empty. Push-relabel: O(nodes^3) at worst, about linear in the links
// of the fabrics built here. REQUIRES: no chip is in both sets.
Bandwidth min_cut(const Fabric& fabric, std::span<const ChipId> from, std::span<const ChipId> to);

}  // namespace podsim
