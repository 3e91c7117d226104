// Completes shardings through a program, to a fixpoint, and says where each axis came from.
#pragma once

#include <string>
#include <vector>

#include "workload/annotation.h"
#include "workload/op_rule.h"

namespace podsim {

struct ShardedTensor {
  std::string name;
  std::vector<std::int64_t> dims;
  Annotation annotation;  // what the user said; unset = nothing
};

struct ShardedOp {
  std::string name;
  OpRule rule;
  std::vector<int> operands, results;  // indices of tensors
};

// Where an axis on a dimension of a tensor came from.
struct Origin {
  AxisRef axis;
  int op = -1;      // index of the operation along which it came; -1 = the annotation
  int source = -1;  // tensor it came from
};

// Two tensors of an operation want different axes on one factor, or one axis on two factors.
struct Conflict {
  int op = 0;
  int tensor = 0, other = 0;
  std::string text;  // "ffn up: x has data on d, weight has fsdp on d; kept data, the larger tensor"
};

struct Propagated {
  std::vector<Annotation> annotations;                    // [tensor]
  std::vector<std::vector<std::vector<Origin>>> origins;  // [tensor][dim][axis]
  std::vector<Conflict> conflicts;
};

// User priorities, then operation classes, then basic before aggressive factor propagation, each to a
// fixpoint (docs/sharding.md). Extends prefixes, never takes back. Linear in tensors x passes.
Propagated propagate(const Mesh& mesh, const std::vector<ShardedTensor>& tensors,
                     const std::vector<ShardedOp>& ops);

}  // namespace podsim
