// How much of the data takes each order of dimensions, so that no dimension of a torus is busier than it must
// be.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace podsim {

struct TorusBalance {
  std::vector<double> fraction;  // of the data, per order; sums to 1
  std::array<double, 3>
      load;  // on a link of each dimension, per byte of the data; dimensions that tie are equal to the bit
};

// Minimises over fraction >= 0, sum(fraction) = 1 the largest over d of sum over p of fraction[p] *
// loads[p][d]. loads[p][d] = load on a link of dimension d per byte that takes order p. Exact: visits every
// vertex of the linear program, and of several that are as good takes one whose largest fraction is least:
// on a cube, orders that stay out of each other's way step by step. REQUIRES: 1 to 6 orders.
TorusBalance balance_orders(std::span<const std::array<double, 3>> loads);

}  // namespace podsim
