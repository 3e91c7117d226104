// What propagation knows so far: shardings, where each axis came from, and how operations see their tensors.
#include "workload/sharding/propagation_state.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

PropagationSlot slot(const OpRule& rule, const FactorMap& map, int tensor, bool result) {
  PropagationSlot made{.tensor = tensor, .result = result, .map = &map, .dim_of = {}};
  made.dim_of.assign(rule.factors.size(), -1);
  for (std::size_t dim = 0; dim < map.size(); ++dim) {
    for (int factor : map[dim]) made.dim_of[static_cast<std::size_t>(factor)] = static_cast<int>(dim);
  }
  return made;
}

// True when one of the tensors on the other side has a factor that this one lacks.
bool narrow(const PropagationSlot& slot, const std::vector<PropagationSlot>& slots) {
  return std::any_of(slots.begin(), slots.end(), [&](const PropagationSlot& other) {
    if (other.result == slot.result) return false;
    for (std::size_t f = 0; f < slot.dim_of.size(); ++f) {
      if (other.dim_of[f] >= 0 && slot.dim_of[f] < 0) return true;
    }
    return false;
  });
}

PropagationOp view(const ShardedOp& op) {
  PropagationOp made{.op = &op, .slots = {}};
  PODSIM_CHECK(op.operands.size() == op.rule.operands.size() && op.results.size() == op.rule.results.size(),
               op.name + ": the rule has a map for each tensor");
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    made.slots.push_back(slot(op.rule, op.rule.operands[i], op.operands[i], false));
  for (std::size_t i = 0; i < op.results.size(); ++i)
    made.slots.push_back(slot(op.rule, op.rule.results[i], op.results[i], true));
  made.passes_all = std::all_of(op.rule.factors.begin(), op.rule.factors.end(),
                                [](const Factor& factor) { return factor.kind == FactorKind::kPassThrough; });
  const bool broadcast = op.rule.rule_class == RuleClass::kBroadcast;
  if (!op.rule.elementwise && !broadcast) return made;
  for (PropagationSlot& slot : made.slots) {
    if (!narrow(slot, made.slots)) continue;
    made.narrow = true;
    slot.takes = kPassThroughLevel;
    slot.gives = slot.result ? kPassThroughLevel : kBroadcasts;
  }
  return made;
}

}  // namespace

PropagationState::PropagationState(const std::vector<ShardedTensor>& tensors,
                                   const std::vector<ShardedOp>& ops)
    : tensors_(tensors), changed_at_(tensors.size(), 0) {
  for (const ShardedTensor& tensor : tensors) {
    annotations_.push_back(tensor.annotation.dims.empty() ? unset(tensor.dims.size()) : tensor.annotation);
    Annotation& annotation = annotations_.back();
    PODSIM_CHECK(annotation.dims.size() == tensor.dims.size(),
                 tensor.name + ": annotated in every dimension");
    annotation.replicated = tensor.annotation.replicated;
    annotation.unreduced = tensor.annotation.unreduced;
    double elements = 1;
    for (std::int64_t size : tensor.dims) elements *= static_cast<double>(size);
    elements_.push_back(elements);
    origins_.emplace_back();
    for (DimAnnotation& dim : annotation.dims) {
      dim.axes = merged(std::move(dim.axes));
      origins_.back().emplace_back();
      for (const AxisRef& axis : dim.axes) origins_.back().back().push_back({.axis = axis});
    }
  }
  std::vector<int> uses(tensors.size(), 0);
  for (const ShardedOp& op : ops) {
    for (int operand : op.operands) ++uses[at(operand)];
  }
  for (const ShardedOp& op : ops) {
    ops_.push_back(view(op));
    ops_.back().reuses = std::any_of(op.operands.begin(), op.operands.end(), [&](int operand) {
      return uses[at(operand)] > 1 && !tensors[at(operand)].dims.empty();
    });
  }
}

const Origin& PropagationState::origin(int tensor, int dim, const AxisRef& axis) const {
  const std::vector<Origin>& origins = origins_[at(tensor)][at(dim)];
  const auto found = std::find_if(origins.begin(), origins.end(),
                                  [&](const Origin& origin) { return overlap(origin.axis, axis); });
  PODSIM_CHECK(found != origins.end(), "every axis of a sharding has an origin");
  return *found;
}

AxisList PropagationState::on_seen_dims(int tensor) const {
  AxisList axes;
  for (const DimAnnotation& dim : annotations_[at(tensor)].dims) {
    if (seen(dim)) axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  }
  return axes;
}

AxisList PropagationState::unavailable(int tensor) const {
  const Annotation& annotation = annotations_[at(tensor)];
  AxisList axes = annotation.replicated;
  axes.insert(axes.end(), annotation.unreduced.begin(), annotation.unreduced.end());
  for (const DimAnnotation& dim : annotation.dims) axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  return axes;
}

void PropagationState::extend(int tensor, int dim, const AxisList& more, int op, int source) {
  AxisList& axes = annotations_[at(tensor)].dims[at(dim)].axes;
  std::vector<Origin>& origins = origins_[at(tensor)][at(dim)];
  axes = joined(std::move(axes), more);
  // A piece that continues the last axis makes it longer.
  std::size_t known = origins.size();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i < known) {
      origins[i].axis = axes[i];
    } else {
      origins.push_back({.axis = axes[i], .op = op, .source = source});
    }
  }
  changed_at_[at(tensor)] = ++changes_;
}

}  // namespace podsim
