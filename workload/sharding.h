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

// Axes that the rules put on a logical dimension, as a rule lists them, major to minor. Names that the mesh lacks
// and axes of size 1 are skipped. A dimension without a rule takes that of its more general name:
// attention_heads -> heads, attention_kv_heads -> kv_heads, attention_sequence -> sequence, expert_ffn -> ffn,
// param_expert_ffn -> param_ffn.
AxisList ruled_axes(const Job& job, const std::string& dimension);
// The dimension whose rule speaks for this one: itself, its more general name, or empty.
std::string ruling_dimension(const Job& job, const std::string& dimension);
AxisSet axes_on(const Job& job, const std::string& dimension);  // the same, as a set

TensorShape shape_of(const Tensor& tensor);

// The user's annotation, else what the rules say; an axis that two dimensions claim stays with the first. The
// gradient of a parameter lies as the parameter does, and on the axes of the "gradient_" rules (ZeRO-2).
Layout ruled_layout(const Job& job, const Tensor& tensor);

// Of a parameter's optimizer state: the layout of the parameter and the axes of the "state_" rules. A vector
// without the ruled dimension is cut along its last, much as a flat buffer would be.
Layout state_layout(const Job& job, const Tensor& parameter);

// What the rules say of a tensor; an axis that two dimensions claim stays with the first.
Sharding ruled_sharding(const Job& job, const Tensor& tensor);

// Sharding of a parameter's optimizer state: that of the parameter and the axes of the "state_" rules. A
// vector without the ruled dimension is cut along its last, much as a flat buffer would be.
Sharding state_sharding(const Job& job, const Tensor& parameter);

// Indices of one shard: each block is cut alone and rounded up.
double local_size(const Mesh& mesh, const TensorDim& dim, AxisSet axes);
double local_elements(const Mesh& mesh, const Tensor& tensor, const Sharding& sharding);

}  // namespace podsim
