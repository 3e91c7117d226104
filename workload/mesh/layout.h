// How a tensor lies on the mesh right now, and what one device then holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/units.h"
#include "workload/mesh/axes.h"

namespace podsim {

// A run of indices that is cut into equal shards on its own. A fused projection concatenates query, key and
// value heads: three blocks. Axes outside `cut` replicate the block although they cut the dimension.
struct DimBlock {
  std::int64_t size = 0;
  AxisSet cut = ~AxisSet{0};
};

struct TensorDim {
  std::string logical;           // what sharding rules call it; empty = no rule applies
  std::vector<DimBlock> blocks;  // at least one
};

struct TensorShape {
  std::vector<TensorDim> dims;
  double element_bytes = 2;  // in memory and on the wire
};

// INVARIANT: an axis (or overlapping pieces of one) occurs once over all dims and `unreduced`.
struct Layout {
  std::vector<AxisList> dims;  // [dimension] major to minor
  AxisList unreduced;          // canonical: the value is a partial sum over these axes

  AxisList sharded() const;  // canonical: axes on any dimension
  friend bool operator==(const Layout&, const Layout&) = default;
};

Layout replicated(std::size_t rank);

// Indices of one shard along a dimension: each block is cut alone and rounded up (the last shards are
// padded).
double local_size(const TensorDim& dim, const AxisList& axes);
double local_elements(const TensorShape& shape, const Layout& layout);
Bytes local_bytes(const TensorShape& shape, const Layout& layout);

// "[{data,fsdp},{}]", followed by " unreduced={tensor}" where the value is a partial sum.
std::string to_string(const Mesh& mesh, const Layout& layout);

}  // namespace podsim
