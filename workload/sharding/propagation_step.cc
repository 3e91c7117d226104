// One look of propagation at one operation.
#include "workload/sharding/propagation_step.h"

#include <algorithm>
#include <tuple>

namespace podsim {

Reach reach_of(const PropagationOp& op, int level) {
  Reach reach{.all_factors = level >= kAllFactors && !op.passes_all,
              .level = op.narrow ? level : int{kPointwise}};
  switch (op.op->rule.rule_class) {
    case RuleClass::kElementwise:
      reach.forward = reach.backward = level > kPointwise || !op.reuses;
      break;
    case RuleClass::kSliceForward:
      reach.forward = level > kPointwise || !op.reuses;
      reach.backward = level >= kPassThroughLevel;
      break;
    case RuleClass::kBroadcast:
    case RuleClass::kGeneral:
      reach.forward = reach.backward = level >= kPassThroughLevel;
      break;
  }
  return reach;
}

bool PropagationStep::passes(std::size_t factor) const {
  const Factor& of = op_.op->rule.factors[factor];
  return !of.blocked && (reach_.all_factors || of.kind == FactorKind::kPassThrough);
}

FactorAxes PropagationStep::axes_of(const PropagationSlot& slot, std::size_t factor) const {
  const int index = slot.dim_of[factor];
  const DimAnnotation& dim = state_.dim(slot.tensor, index);
  FactorAxes axes = factor_axes(op_.op->rule, (*slot.map)[static_cast<std::size_t>(index)],
                                static_cast<int>(factor), dim.axes);
  axes.extensible = axes.extensible && dim.open && state_.seen(dim);
  return axes;
}

// What the tensor lets be seen of its axes on the factor; `scratch` holds the list where it must be made.
const AxisList& PropagationStep::seen_axes(const PropagationSlot& slot, std::size_t factor,
                                           AxisList& scratch) const {
  const int index = slot.dim_of[factor];
  const DimAnnotation& dim = state_.dim(slot.tensor, index);
  const bool whole_dimension = (*slot.map)[static_cast<std::size_t>(index)].size() == 1;
  if (whole_dimension && state_.seen(dim)) return dim.axes;
  scratch = state_.seen(dim) ? axes_of(slot, factor).axes : AxisList{};
  return scratch;
}

AxisList PropagationStep::agreed(std::size_t factor) const {
  AxisList longest, scratch;
  bool disagree = false;
  const auto hear = [&](const AxisList& axes, bool extends) {
    if (begins_with(axes, longest)) {
      if (extends && !disagree) longest = axes;
    } else if (!begins_with(longest, axes)) {
      longest = common_start(longest, axes);
      disagree = true;
    }
  };
  for (const bool sources : {true, false}) {
    for (const PropagationSlot& slot : op_.slots) {
      if (slot.dim_of[factor] >= 0 && speaks(slot) && is_source(slot) == sources)
        hear(seen_axes(slot, factor, scratch), sources);
    }
  }
  return longest;
}

std::size_t PropagationStep::source_of(std::size_t factor, const AxisList& axes) const {
  AxisList scratch;
  std::size_t best = op_.slots.size();
  for (std::size_t i = 0; i < op_.slots.size(); ++i) {
    const PropagationSlot& slot = op_.slots[i];
    if (slot.dim_of[factor] < 0 || !is_source(slot)) continue;
    if (!begins_with(seen_axes(slot, factor, scratch), axes)) continue;
    const bool larger =
        best == op_.slots.size() || state_.elements(slot.tensor) > state_.elements(op_.slots[best].tensor);
    if (larger) best = i;
  }
  return best;
}

// A cheap look before the lists are compared.
bool PropagationStep::could_extend(const PropagationSlot& slot, std::size_t factor,
                                   const AxisList& axes) const {
  if (slot.dim_of[factor] < 0) return false;
  const DimAnnotation& dim = state_.dim(slot.tensor, slot.dim_of[factor]);
  return dim.open && dim.axes != axes && state_.seen(dim);
}

bool PropagationStep::useful(std::size_t factor, const AxisList& axes) const {
  return !axes.empty() && std::any_of(op_.slots.begin(), op_.slots.end(), [&](const PropagationSlot& slot) {
    return could_extend(slot, factor, axes);
  });
}

// What the tensor may append of `axes` to its own list on the factor; empty where it has other axes there.
AxisList PropagationStep::addition(const PropagationSlot& slot, std::size_t factor,
                                   const AxisList& axes) const {
  const FactorAxes own = axes_of(slot, factor);
  if (!own.extensible) return {};
  const auto rest = rest_after(own.axes, axes);
  if (!rest || rest->empty()) return {};
  return own.fitting(free_start(*rest, state_.unavailable(slot.tensor)));
}

// The beginning of `axes` to which the tensor does not object, whether or not it has the factor.
AxisList PropagationStep::acceptable(const PropagationSlot& slot, std::size_t factor,
                                     const AxisList& axes) const {
  if (slot.dim_of[factor] < 0) return free_start(axes, state_.on_seen_dims(slot.tensor));
  const FactorAxes own = axes_of(slot, factor);
  const auto rest = rest_after(own.axes, axes);
  if (!rest || rest->empty()) return axes;
  return joined(own.axes, addition(slot, factor, axes));
}

// Between operands of an elementwise operation axes pass only as far as the results go along.
AxisList PropagationStep::kept_by_results(std::size_t factor, AxisList axes) const {
  for (const PropagationSlot& slot : op_.slots) {
    if (slot.result && slot.dim_of[factor] >= 0) axes = common_start(axes, axes_of(slot, factor).axes);
  }
  return axes;
}

bool PropagationStep::extend(const PropagationSlot& slot, const Candidate& candidate) {
  if (!could_extend(slot, candidate.factor, candidate.axes)) return false;
  const AxisList more = addition(slot, candidate.factor, candidate.axes);
  if (more.empty()) return false;
  state_.extend(slot.tensor, slot.dim_of[candidate.factor], more, index_, op_.slots[candidate.source].tensor);
  return true;
}

bool PropagationStep::basic() {
  bool changed = false;
  for (std::size_t factor = 0; factor < factor_count(); ++factor) {
    if (!passes(factor)) continue;
    AxisList axes = agreed(factor);
    if (!useful(factor, axes)) continue;
    for (const PropagationSlot& slot : op_.slots) {
      if (!axes.empty() && speaks(slot)) axes = acceptable(slot, factor, axes);
    }
    if (axes.empty()) continue;
    const Candidate candidate{factor, source_of(factor, axes), axes};
    for (const PropagationSlot& slot : op_.slots) {
      if (speaks(slot)) changed |= extend(slot, candidate);
    }
  }
  return changed;
}

std::vector<PropagationStep::Candidate> PropagationStep::candidates() const {
  std::vector<Candidate> found;
  for (std::size_t factor = 0; factor < factor_count(); ++factor) {
    if (!passes(factor)) continue;
    AxisList axes = agreed(factor);
    if (!useful(factor, axes)) continue;
    const std::size_t source = source_of(factor, axes);
    found.push_back({factor, source, std::move(axes)});
  }
  const auto rank = [&](const Candidate& c) {
    const double elements = state_.elements(op_.slots[c.source].tensor);
    const int shards = op_.op->rule.elementwise ? shard_count(c.axes) : 0;
    return std::tuple(-elements, -shards, c.source, c.factor);
  };
  std::sort(found.begin(), found.end(),
            [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  return found;
}

bool PropagationStep::aggressive() {
  bool changed = false;
  std::vector<Candidate> wanted = candidates();
  for (const bool results : {true, false}) {
    for (const PropagationSlot& slot : op_.slots) {
      if (slot.result != results || slot.takes > reach_.level) continue;
      for (Candidate& candidate : wanted) {
        if (!could_extend(slot, candidate.factor, candidate.axes)) continue;
        if (!results && op_.op->rule.elementwise)
          candidate.axes = kept_by_results(candidate.factor, std::move(candidate.axes));
        changed |= extend(slot, candidate);
      }
    }
  }
  return changed;
}

}  // namespace podsim
