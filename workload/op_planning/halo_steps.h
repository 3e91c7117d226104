// The permutes that widen the shards of a tensor by their halos, one dimension after the other.
#pragma once

#include <vector>

#include "workload/op_planning/halo.h"
#include "workload/resharding/reshard_plan.h"

namespace podsim {

// Slabs along a later dimension include the halos of earlier ones: corners come with them.
class HaloSteps {
 public:
  // The tensor before the first exchange.
  HaloSteps(const TensorShape& shape, Layout layout);

  // What shards of `outputs` read through `window`, whose input is dimension `dim` of the tensor, cut by
  // `axes`. False when that is further than halos go.
  bool add(const Window& window, std::int64_t outputs, int dim, const AxisList& axes);

  const std::vector<PlanStep>& steps() const { return steps_; }
  double sent_bytes() const;

 private:
  Layout layout_;
  std::vector<double> extents_;  // [dim] of a shard, halos included
  double element_bytes_;
  std::vector<PlanStep> steps_;
};

}  // namespace podsim
