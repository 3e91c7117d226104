// What shardings of one operation's tensors cannot have at once.
#include "workload/sharding/propagation_conflicts.h"

#include <algorithm>
#include <optional>

#include "workload/sharding/propagation_step.h"

namespace podsim {
namespace {

bool disagree(const AxisList& a, const AxisList& b) { return !begins_with(a, b) && !begins_with(b, a); }

std::string dimension(const ShardedTensor& tensor, int dim) {
  const auto index = static_cast<std::size_t>(dim);
  const bool named = index < tensor.dim_names.size() && !tensor.dim_names[index].empty();
  return "dimension " + (named ? tensor.dim_names[index] : std::to_string(dim));
}

// Two tensors of an operation with different axes on one factor.
struct Pair {
  const PropagationSlot* a = nullptr;
  const PropagationSlot* b = nullptr;
  AxisList a_axes, b_axes;
};

class OperationConflicts {
 public:
  OperationConflicts(const Mesh& mesh, PropagationState& state, std::size_t op)
      : mesh_(mesh),
        state_(state),
        op_(state.op(op)),
        index_(static_cast<int>(op)),
        step_(state, op, reach_of(state.op(op), kBroadcasts)) {}

  void collect(std::vector<Conflict>& found) const {
    for (std::size_t factor = 0; factor < step_.factor_count(); ++factor) {
      if (!step_.passes(factor)) continue;
      const std::vector<Pair> pairs = disagreements(factor);
      if (!pairs.empty()) {
        found.push_back(between(factor, pairs.front()));
      } else if (op_.op->rule.factors[factor].kind == FactorKind::kPassThrough) {
        collect_denied(factor, found);
      }
    }
  }

  void collect_annotated(std::vector<Conflict>& found) const {
    for (std::size_t factor = 0; factor < step_.factor_count(); ++factor) {
      if (op_.op->rule.factors[factor].kind == FactorKind::kNeedReplication) continue;  // gathered anyway
      for (const Pair& pair : disagreements(factor)) {
        const auto closed = [&](const PropagationSlot& slot) {
          return !state_.dim(slot.tensor, slot.dim_of[factor]).open;
        };
        if (closed(*pair.a) && closed(*pair.b)) found.push_back(annotated(factor, pair));
      }
    }
  }

 private:
  std::vector<Pair> disagreements(std::size_t factor) const {
    std::vector<Pair> found;
    for (std::size_t i = 0; i < op_.slots.size(); ++i) {
      for (std::size_t j = i + 1; j < op_.slots.size(); ++j) {
        const PropagationSlot &a = op_.slots[i], &b = op_.slots[j];
        if (a.dim_of[factor] < 0 || b.dim_of[factor] < 0 || a.tensor == b.tensor) continue;
        Pair pair{&a, &b, step_.axes_of(a, factor).axes, step_.axes_of(b, factor).axes};
        if (disagree(pair.a_axes, pair.b_axes)) found.push_back(std::move(pair));
      }
    }
    return found;
  }

  // "ffn up: x has data on dimension batch, y has fsdp on it"
  std::string told(std::size_t factor, const Pair& pair) const {
    const ShardedTensor &a = state_.tensor(pair.a->tensor), &b = state_.tensor(pair.b->tensor);
    const std::string here = dimension(a, pair.a->dim_of[factor]),
                      there = dimension(b, pair.b->dim_of[factor]);
    return op_.op->name + ": " + a.name + " has " + to_string(mesh_, pair.a_axes) + " on " + here + ", " +
           b.name + " has " + to_string(mesh_, pair.b_axes) + " on " + (here == there ? "it" : there);
  }

  Conflict between(std::size_t factor, const Pair& pair) const {
    const AxisList common = common_start(pair.a_axes, pair.b_axes);
    const std::string outcome =
        common.empty() ? "; neither passes on" : "; only " + to_string(mesh_, common) + " passes on";
    return {index_, pair.a->tensor, pair.b->tensor, told(factor, pair) + outcome};
  }

  Conflict annotated(std::size_t factor, const Pair& pair) const {
    const std::string annotations = to_string(mesh_, state_.annotation(pair.a->tensor)) + " and " +
                                    to_string(mesh_, state_.annotation(pair.b->tensor));
    return {index_, pair.a->tensor, pair.b->tensor,
            told(factor, pair) + "; one of them must change or be open (annotated " + annotations + ")"};
  }

  void collect_denied(std::size_t factor, std::vector<Conflict>& found) const {
    const AxisList axes = step_.agreed(factor);
    if (axes.empty()) return;
    const int source = op_.slots[step_.source_of(factor, axes)].tensor;
    for (const PropagationSlot& slot : op_.slots) {
      if (slot.dim_of[factor] < 0) continue;
      const FactorAxes own = step_.axes_of(slot, factor);
      const auto rest = rest_after(own.axes, axes);
      if (!own.extensible || !rest || rest->empty()) continue;
      const auto blocking = dimension_with(slot.tensor, rest->front());
      if (!blocking) continue;
      const PropagationSlot& from = op_.slots[step_.source_of(factor, axes)];
      found.push_back({index_, slot.tensor, source,
                       op_.op->name + ": " + state_.tensor(source).name + " has " +
                           to_string(mesh_, rest->front()) + " on " +
                           dimension(state_.tensor(source), from.dim_of[factor]) + ", " +
                           state_.tensor(slot.tensor).name + " keeps it on " +
                           dimension(state_.tensor(slot.tensor), *blocking) +
                           reason(slot.tensor, *blocking, rest->front(), source)});
    }
  }

  std::optional<int> dimension_with(int tensor, const AxisRef& axis) const {
    const auto& dims = state_.annotation(tensor).dims;
    const auto found = std::find_if(dims.begin(), dims.end(), [&](const DimAnnotation& dim) {
      return overlap(dim.axes, AxisList{axis});
    });
    if (found == dims.end()) return std::nullopt;
    return static_cast<int>(found - dims.begin());
  }

  // Why the axis stays on `dim` of the tensor although `loser` would have it elsewhere.
  std::string reason(int tensor, int dim, const AxisRef& axis, int loser) const {
    const Origin& origin = state_.origin(tensor, dim, axis);
    if (origin.op < 0) return ", as annotated";
    const std::string from = ", from " + state_.tensor(origin.source).name;
    if (origin.op != index_) return from + " by " + state_.op(static_cast<std::size_t>(origin.op)).op->name;
    if (state_.elements(origin.source) > state_.elements(loser)) return from + ", the larger tensor";
    return from + ", which comes first";
  }

  const Mesh& mesh_;
  const PropagationState& state_;
  const PropagationOp& op_;
  int index_;
  PropagationStep step_;
};

}  // namespace

std::vector<Conflict> open_conflicts(const Mesh& mesh, PropagationState& state) {
  std::vector<Conflict> found;
  for (std::size_t op = 0; op < state.op_count(); ++op) OperationConflicts(mesh, state, op).collect(found);
  return found;
}

std::vector<Conflict> conflicting_annotations(const Mesh& mesh, const std::vector<ShardedTensor>& tensors,
                                              const std::vector<ShardedOp>& ops) {
  PropagationState state(tensors, ops);
  std::vector<Conflict> found;
  for (std::size_t op = 0; op < ops.size(); ++op)
    OperationConflicts(mesh, state, op).collect_annotated(found);
  return found;
}

}  // namespace podsim
