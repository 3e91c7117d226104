// What propagation knows so far: shardings, where each axis came from, and how operations see their tensors.
#pragma once

#include <vector>

#include "engine/index.h"
#include "workload/sharding/factor_projection.h"
#include "workload/sharding/propagate.h"

namespace podsim {

// Classes of operations join one after the other; each level includes those before it.
enum PropagationLevel : int {
  kPointwise,         // elementwise and data movement whose operands have no other use
  kReusedPointwise,   // the same, whatever the uses
  kPassThroughLevel,  // every operation along pass-through factors; a broadcast only backward
  kAllFactors,        // along every factor
  kBroadcasts,        // broadcasts forward as well
};
constexpr int kPropagationLevels = 5;

// A tensor of an operation. A narrow operand (a vector that is broadcast within an elementwise operation)
// and a narrow result (a sum over some dimensions) take part later than the others.
struct PropagationSlot {
  int tensor = 0;
  bool result = false;
  const FactorMap* map = nullptr;
  std::vector<int> dim_of;  // [factor] dimension; -1 = the tensor does not have it
  int takes = kPointwise;   // level from which axes come here
  int gives = kPointwise;   // level from which axes go from here
};

struct PropagationOp {
  const ShardedOp* op = nullptr;
  std::vector<PropagationSlot> slots;  // operands, then results
  bool reuses = false;                 // an operand of some rank has other uses
  bool narrow = false;                 // has narrow slots
  bool passes_all = true;              // every factor is pass-through
};

class PropagationState {
 public:
  PropagationState(const std::vector<ShardedTensor>& tensors, const std::vector<ShardedOp>& ops);

  const PropagationOp& op(std::size_t index) const { return ops_[index]; }
  std::size_t op_count() const { return ops_.size(); }
  const ShardedTensor& tensor(int index) const { return tensors_[at(index)]; }
  const Annotation& annotation(int tensor) const { return annotations_[at(tensor)]; }
  const DimAnnotation& dim(int tensor, int dim) const { return annotations_[at(tensor)].dims[at(dim)]; }
  const Origin& origin(int tensor, int dim, const AxisRef& axis) const;  // of an axis that lies there
  double elements(int tensor) const { return elements_[at(tensor)]; }
  std::int64_t changed_at(int tensor) const { return changed_at_[at(tensor)]; }
  std::int64_t changes() const { return changes_; }  // how often anything was extended

  // Dimensions with a greater number are not seen yet, and stay as they are.
  void set_priority(int priority) { priority_ = priority; }
  bool seen(const DimAnnotation& dim) const { return dim.priority <= priority_; }

  AxisList on_seen_dims(int tensor) const;
  AxisList unavailable(int tensor) const;  // on any dimension, replicated or unreduced

  // Appends `more` to a dimension; it came along operation `op` from tensor `source`.
  void extend(int tensor, int dim, const AxisList& more, int op, int source);

  std::vector<Annotation> take_annotations() { return std::move(annotations_); }
  std::vector<std::vector<std::vector<Origin>>> take_origins() { return std::move(origins_); }

 private:
  const std::vector<ShardedTensor>& tensors_;
  std::vector<PropagationOp> ops_;
  std::vector<Annotation> annotations_;
  std::vector<std::vector<std::vector<Origin>>> origins_;  // [tensor][dim][axis]
  std::vector<double> elements_;
  std::vector<std::int64_t> changed_at_;
  std::int64_t changes_ = 0;
  int priority_ = 0;
};

}  // namespace podsim
