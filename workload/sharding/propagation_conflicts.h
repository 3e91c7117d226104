// What shardings of one operation's tensors cannot have at once.
#pragma once

#include "workload/sharding/propagation_state.h"

namespace podsim {

// What a finished propagation could not pass on: tensors with different axes on one factor, and an axis that
// a tensor could not take because another of its dimensions has it. At most one per operation, factor and
// tensor.
std::vector<Conflict> open_conflicts(const Mesh& mesh, PropagationState& state);

}  // namespace podsim
