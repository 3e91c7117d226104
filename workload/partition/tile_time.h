// Time of the output tiles of matmuls on the compute units of a GPU.
#pragma once

#include <functional>

#include "workload/job/kernel_numbers.h"

namespace podsim {

// What the tiles run on.
struct TileUnits {
  int units = 1;
  double flops_per_s = 0;  // of all units together, at tiles of endless K
  double bytes_per_s = 0;  // of the memory
};

// Seconds of `groups` matmuls [m,k] x [k,n] in one kernel: the best of the tiles, both ways round, and of K
// in 1, 2, 4 or 8 parts. Whole waves, each of K plus the fill; no memory traffic but that of the parts.
double tile_seconds(const TiledMatmul& numbers, double m, double n, double k, double groups,
                    const TileUnits& on);

// The same of groups of different m, which `row_tiles` cuts into tiles of so many rows: the tiles one way
// round, K whole.
double grouped_tile_seconds(const TiledMatmul& numbers, const std::function<double(int rows)>& row_tiles,
                            double n, double k, const TileUnits& on);

// The smooth larger of two times, of which the shorter hides almost wholly: (a^4 + b^4)^(1/4).
double beside(double a_s, double b_s);

}  // namespace podsim
