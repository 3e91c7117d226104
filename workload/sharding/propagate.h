// Completes shardings through a program, to a fixpoint, and says where each axis came from.
#pragma once

#include <string>
#include <vector>

#include "workload/graph/op_rule.h"
#include "workload/mesh/annotation.h"

namespace podsim {

struct ShardedTensor {
  std::string name;
  std::vector<std::int64_t> dims;
  Annotation annotation;                    // what the user said; unset or without dimensions = nothing
  std::vector<std::string> dim_names = {};  // for messages; empty = dimensions are numbered
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
  int tensor = 0, other = 0;  // indices of tensors
  // "matmul: w has a on dimension ffn, y keeps it on dimension batch, from x, the larger tensor"
  std::string text;
};

struct Propagated {
  std::vector<Annotation> annotations;                    // [tensor]
  std::vector<std::vector<std::vector<Origin>>> origins;  // [tensor][dim][axis]
  std::vector<Conflict> conflicts;
};

// User priorities, then operation classes, then basic before aggressive factor propagation, each to a
// fixpoint (docs/theory/propagation.md). Extends prefixes, never takes back. Linear in tensors x passes.
Propagated propagate(const Mesh& mesh, const std::vector<ShardedTensor>& tensors,
                     const std::vector<ShardedOp>& ops);

// Mistakes: two tensors of one operation that are annotated with different axes on closed dimensions that
// must be cut alike. The text names both tensors, their dimensions and annotations.
std::vector<Conflict> conflicting_annotations(const Mesh& mesh, const std::vector<ShardedTensor>& tensors,
                                              const std::vector<ShardedOp>& ops);

}  // namespace podsim
