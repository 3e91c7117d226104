// Which collectives take a tensor from one sharding to another.
#include "workload/reshard.h"

#include <algorithm>
#include <limits>

namespace podsim {

std::vector<ReshardStep> reshard(const Mesh& mesh, const Tensor& tensor, const Sharding& from,
                                 const Sharding& to) {
  std::vector<ReshardStep> steps;
  Sharding now = from;
  const AxisSet reduce = from.unreduced & ~to.unreduced;
  const AxisSet held = from.sharded() | from.unreduced;
  const AxisSet leaving = from.sharded() & ~to.sharded();
  const auto bytes = [&](const Sharding& sharding) {
    return Bytes{local_elements(mesh, tensor, sharding) * tensor.element_bytes};
  };
  for (std::size_t i = 0; i < now.dims.size(); ++i) now.dims[i] |= to.dims[i] & ~held;

  if (const AxisSet scatter = reduce & to.sharded(); scatter != 0) {
    steps.push_back({CollectiveKind::kReduceScatter, scatter, bytes(now)});
    for (std::size_t i = 0; i < now.dims.size(); ++i) now.dims[i] |= to.dims[i] & scatter;
  }
  if (const AxisSet all = reduce & ~to.sharded(); all != 0)
    steps.push_back({CollectiveKind::kAllReduce, all, bytes(now)});

  AxisSet moved = 0;
  for (std::size_t i = 0; i < now.dims.size(); ++i) moved |= now.dims[i] & ~to.dims[i] & ~leaving;
  if (moved != 0) {
    steps.push_back({CollectiveKind::kAllToAll, moved, bytes(now)});
    for (std::size_t i = 0; i < now.dims.size(); ++i)
      now.dims[i] = (now.dims[i] & ~moved) | (to.dims[i] & moved);
  }
  if (leaving != 0) {
    for (AxisSet& dim : now.dims) dim &= ~leaving;
    steps.push_back({CollectiveKind::kAllGather, leaving, bytes(now)});
  }
  return steps;
}

Bytes sent_bytes(const Mesh& mesh, const ReshardStep& step) {
  const double n = shard_count(mesh, step.axes);
  const double share = (n - 1) / n;
  return (step.kind == CollectiveKind::kAllReduce ? 2 * share : share) * step.bytes;
}

double reshard_cost(const Mesh& mesh, const ReshardStep& step, const PartitionCosts& costs) {
  const double sent = sent_bytes(mesh, step).value;
  if (costs.axis_bandwidth.empty()) return sent;
  double slowest = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < costs.axis_bandwidth.size(); ++axis) {
    if (step.axes & axis_bit(static_cast<int>(axis)))
      slowest = std::min(slowest, costs.axis_bandwidth[axis].value);
  }
  return sent / slowest;
}

}  // namespace podsim
