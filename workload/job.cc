// Sizes that follow from a job's mesh and rules.
#include "workload/job.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "workload/sharding.h"

namespace podsim {

int Mesh::devices() const {
  std::int64_t product = 1;
  for (const MeshAxis& axis : axes) product = std::min<std::int64_t>(product * axis.size, INT32_MAX);
  return static_cast<int>(product);
}

int Mesh::find(const std::string& name) const {
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis].name == name) return static_cast<int>(axis);
  }
  return -1;
}

int Job::batch_shards() const { return shard_count(mesh, axes_on(*this, "batch")); }

int Job::microbatches() const { return global_batch / (batch_shards() * microbatch); }

double Job::evaluation_passes() const {
  return std::ceil(evaluation.sequences / global_batch) * global_batch / evaluation.every_sequences;
}

}  // namespace podsim
