// Shardings of all arrays of a program, completed by propagation.
#pragma once

#include <vector>

#include "ingest/partitioning/program.h"
#include "workload/sharding/propagate.h"

namespace podsim::partitioning {

struct Completed {
  std::vector<ShardedTensor> tensors;
  std::vector<ShardedOp> ops;
  Propagated found;
};

// From what the module says; manual regions keep to themselves.
Completed complete(const Program& program, const Mesh& mesh);

}  // namespace podsim::partitioning
