// How tensors lie on the mesh: which axes cut each dimension, and what one device then holds.
#include "workload/sharding.h"

#include <cmath>

namespace podsim {

AxisSet Sharding::sharded() const {
  AxisSet axes = 0;
  for (AxisSet dim : dims) axes |= dim;
  return axes;
}

int shard_count(const Mesh& mesh, AxisSet axes) {
  int count = 1;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (axes & axis_bit(static_cast<int>(axis))) count *= mesh.axes[axis].size;
  }
  return count;
}

AxisSet axes_on(const Job& job, const std::string& dimension) {
  AxisSet axes = 0;
  if (dimension.empty()) return axes;
  for (const ShardingRule& rule : job.rules) {
    if (rule.dimension != dimension) continue;
    for (const std::string& name : rule.axes) {
      const int axis = job.mesh.find(name);
      // An axis of size 1 cuts nothing and would only make empty collectives.
      if (axis >= 0 && job.mesh.axes[static_cast<std::size_t>(axis)].size > 1) axes |= axis_bit(axis);
    }
  }
  return axes;
}

Sharding ruled_sharding(const Job& job, const Tensor& tensor) {
  Sharding sharding;
  AxisSet used = 0;
  for (const TensorDim& dim : tensor.dims) {
    const AxisSet axes = axes_on(job, dim.logical) & ~used;
    used |= axes;
    sharding.dims.push_back(axes);
  }
  return sharding;
}

Sharding state_sharding(const Job& job, const Tensor& parameter) {
  Sharding sharding = ruled_sharding(job, parameter);
  AxisSet used = sharding.sharded();
  for (std::size_t i = 0; i < parameter.dims.size(); ++i) {
    if (parameter.dims[i].logical.empty()) continue;
    const AxisSet axes = axes_on(job, "state_" + parameter.dims[i].logical) & ~used;
    used |= axes;
    sharding.dims[i] |= axes;
  }
  if (parameter.vector) sharding.dims.back() |= axes_on(job, "state_param_embed") & ~used;
  return sharding;
}

double local_size(const Mesh& mesh, const TensorDim& dim, AxisSet axes) {
  double size = 0;
  for (const DimBlock& block : dim.blocks) {
    size += std::ceil(static_cast<double>(block.size) / shard_count(mesh, axes & block.cut));
  }
  return size;
}

double local_elements(const Mesh& mesh, const Tensor& tensor, const Sharding& sharding) {
  double product = 1;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    product *= local_size(mesh, tensor.dims[i], sharding.dims[i]);
  return product;
}

}  // namespace podsim
