// Completes shardings through a program, to a fixpoint, and says where each axis came from.
#include "workload/sharding/propagate.h"

#include <set>

#include "workload/sharding/propagation_conflicts.h"
#include "workload/sharding/propagation_step.h"

namespace podsim {

namespace {

class Propagation {
 public:
  explicit Propagation(PropagationState& state) : state_(state), settled_(state.op_count()) {}

  void run(int priority) {
    state_.set_priority(priority);
    settled_.assign(state_.op_count(), {});
    for (int level = 0; level < kPropagationLevels; ++level) {
      repeat(level, &PropagationStep::basic, false);
      repeat(level, &PropagationStep::aggressive, true);
    }
  }

 private:
  // An operation at rest changes nothing until a tensor of it changes or it reaches further.
  struct Settled {
    Reach reach;
    std::int64_t at = -1;  // changes of the state by then
  };

  // Sweeps along the program and back, so that axes cross it in one sweep, until nothing changes.
  void repeat(int level, bool (PropagationStep::*look)(), bool settles) {
    bool changed = true;
    for (bool along = true; changed; along = !along) {
      changed = false;
      for (std::size_t i = 0; i < state_.op_count(); ++i) {
        const std::size_t op = along ? i : state_.op_count() - 1 - i;
        const Reach reach = reach_of(state_.op(op), level);
        if (reach.none() || at_rest(op, reach)) continue;
        const bool moved = (PropagationStep(state_, op, reach).*look)();
        if (!moved && settles) settled_[op] = {reach, state_.changes()};
        changed |= moved;
      }
    }
  }

  bool at_rest(std::size_t op, const Reach& reach) const {
    const Settled& settled = settled_[op];
    if (settled.at < 0 || !(settled.reach == reach)) return false;
    for (const PropagationSlot& slot : state_.op(op).slots) {
      if (state_.changed_at(slot.tensor) > settled.at) return false;
    }
    return true;
  }

  PropagationState& state_;
  std::vector<Settled> settled_;  // [operation]
};

}  // namespace

Propagated propagate(const Mesh& mesh, const std::vector<ShardedTensor>& tensors,
                     const std::vector<ShardedOp>& ops) {
  PropagationState state(tensors, ops);
  std::set<int> priorities = {0};
  for (const ShardedTensor& tensor : tensors) {
    for (const DimAnnotation& dim : tensor.annotation.dims) priorities.insert(dim.priority);
  }
  Propagation propagation(state);
  for (int priority : priorities) propagation.run(priority);
  std::vector<Conflict> conflicts = open_conflicts(mesh, state);
  return {state.take_annotations(), state.take_origins(), std::move(conflicts)};
}

}  // namespace podsim
