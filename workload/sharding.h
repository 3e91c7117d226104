// How tensors lie on the mesh: which axes cut each dimension, and what one device then holds.
#pragma once

#include <string>
#include <vector>

#include "workload/graph.h"
#include "workload/job.h"

namespace podsim {

// Axes on one dimension lie in mesh order, major to minor: the order that a rule gives decides which device
// holds which block, never how many bytes move.
struct Sharding {
  std::vector<AxisSet> dims;  // [dimension of the tensor]
  AxisSet unreduced = 0;      // the value is a partial sum over these axes

  AxisSet sharded() const;  // axes on any dimension
  friend bool operator==(const Sharding&, const Sharding&) = default;
};

constexpr AxisSet axis_bit(int axis) { return AxisSet{1} << axis; }

// Product of the sizes of the axes.
int shard_count(const Mesh& mesh, AxisSet axes);

// Axes that the rules put on a logical dimension. Names that the mesh lacks are skipped.
AxisSet axes_on(const Job& job, const std::string& dimension);

// What the rules say of a tensor; an axis that two dimensions claim stays with the first.
Sharding ruled_sharding(const Job& job, const Tensor& tensor);

// Sharding of a parameter's optimizer state: that of the parameter and the axes of the "state_" rules. A
// vector without the ruled dimension is cut along its last, much as a flat buffer would be.
Sharding state_sharding(const Job& job, const Tensor& parameter);

// Indices of one shard: each block is cut alone and rounded up.
double local_size(const Mesh& mesh, const TensorDim& dim, AxisSet axes);
double local_elements(const Mesh& mesh, const Tensor& tensor, const Sharding& sharding);

}  // namespace podsim
