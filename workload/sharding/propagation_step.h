// One look of propagation at one operation.
#pragma once

#include "workload/sharding/propagation_state.h"

namespace podsim {

// How far an operation passes axes on at a level. Equal where the level makes no difference to it.
struct Reach {
  bool forward = false, backward = false;
  bool all_factors = false;  // not only along pass-through factors
  int level = kPointwise;    // of its narrow slots

  bool none() const { return !forward && !backward; }
  friend bool operator==(const Reach&, const Reach&) = default;
};
Reach reach_of(const PropagationOp& op, int level);

class PropagationStep {
 public:
  PropagationStep(PropagationState& state, std::size_t op, const Reach& reach)
      : state_(state), op_(state.op(op)), index_(static_cast<int>(op)), reach_(reach) {}

  // Extends every tensor alike, as far as none of the operation objects. Returns whether anything changed.
  bool basic();
  // Extends each tensor as far as it can go by itself; between factors that want one axis of a tensor, the
  // one with the larger source tensor wins, in an elementwise operation then the more sharded, then the
  // earlier source, then the earlier factor.
  bool aggressive();

  std::size_t factor_count() const { return op_.op->rule.factors.size(); }
  bool passes(std::size_t factor) const;
  // The longest list of axes on the factor on which all tensors agree as far as they have any.
  AxisList agreed(std::size_t factor) const;
  // Position in the operation's slots of the largest tensor that has these axes; the first of equals.
  std::size_t source_of(std::size_t factor, const AxisList& axes) const;
  // What the tensor has on one of its factors.
  FactorAxes axes_of(const PropagationSlot& slot, std::size_t factor) const;

 private:
  struct Candidate {
    std::size_t factor = 0, source = 0;
    AxisList axes;
  };

  bool speaks(const PropagationSlot& slot) const { return slot.gives <= reach_.level; }
  bool is_source(const PropagationSlot& slot) const {
    return speaks(slot) && (slot.result ? reach_.backward : reach_.forward);
  }
  const AxisList& seen_axes(const PropagationSlot& slot, std::size_t factor, AxisList& scratch) const;
  bool could_extend(const PropagationSlot& slot, std::size_t factor, const AxisList& axes) const;
  bool useful(std::size_t factor, const AxisList& axes) const;
  AxisList addition(const PropagationSlot& slot, std::size_t factor, const AxisList& axes) const;
  AxisList acceptable(const PropagationSlot& slot, std::size_t factor, const AxisList& axes) const;
  AxisList kept_by_results(std::size_t factor, AxisList axes) const;
  bool extend(const PropagationSlot& slot, const Candidate& candidate);
  std::vector<Candidate> candidates() const;

  PropagationState& state_;
  const PropagationOp& op_;
  int index_;
  Reach reach_;
};

}  // namespace podsim
