// Random meshes, tensors, layouts and operations, each a function of its number alone.
#pragma once

#include "engine/random.h"
#include "tests/sharding/replay.h"

namespace podsim::testing {

// 1 to `axes` axes of 2 to 8, at most `devices` devices.
Mesh random_mesh(std::uint64_t number, int axes, int devices);

// A reshard of a tensor of 1 to `rank` dimensions: uneven sizes, pieces of axes, partial sums.
ReshardProblem random_reshard(std::uint64_t number, int axes, int devices, int rank);

struct RandomOperation {
  Mesh mesh;
  OpProblem problem;
};
// An einsum of two operands over up to five letters, its result wanted in some layout or in none.
RandomOperation random_einsum(std::uint64_t number, int axes, int devices);

}  // namespace podsim::testing
