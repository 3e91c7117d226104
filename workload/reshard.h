// Which collectives take a tensor from one sharding to another.
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "workload/program.h"
#include "workload/sharding.h"

namespace podsim {

struct ReshardStep {
  CollectiveKind kind;
  AxisSet axes;  // of one kind on one tensor, merged
  Bytes bytes;   // in the convention of Collective::bytes
};

// Free slices first, then reduce-scatter of partial sums onto wanted axes, all-reduce of the other partial
// sums, one all-to-all for axes that change dimension, one all-gather for axes that leave. Axes in
// `to.unreduced` stay partial.
std::vector<ReshardStep> reshard(const Mesh& mesh, const Tensor& tensor, const Sharding& from,
                                 const Sharding& to);

// What one device sends, with a bandwidth-optimal algorithm. Source: openxla/shardy cost of one collective;
// see docs/model.md.
Bytes sent_bytes(const Mesh& mesh, const ReshardStep& step);

// Seconds of one step over the slowest of its axes; bytes where no bandwidth is given.
double reshard_cost(const Mesh& mesh, const ReshardStep& step, const PartitionCosts& costs);

}  // namespace podsim
