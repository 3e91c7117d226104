// What an operation costs one device: FLOPs executed and HBM bytes of its shards.
#pragma once

#include <string>

#include "workload/op_planning/plan.h"
#include "workload/partition/program.h"

namespace podsim {

struct Stack;

// The scores of attention never reach HBM, and a causal mask halves the work.
bool fused_attention(const Stack& stack);

// Appends the device's kernels of `op` to `block`. `suffix` ends their names (" recompute").
void lower_operation(const PlanContext& context, const Operation& op, const LetterAxes& plan,
                     const std::string& suffix, Block& block);

// Weights of a part that are cast once per step, behind the update.
ComputeOp weight_casts(const std::string& part, Bytes traffic);

// The update of `local_state` elements of optimizer state: each state byte is read and written, as often as
// the stack's traffic says.
ComputeOp optimizer_update(const std::string& part, double local_state, double local_gradients,
                           const Stack& stack);

// Adds the gradients of a microbatch to those of the ones before, where no matmul does it.
ComputeOp gradient_addition(const std::string& part, double local_gradients, const Stack& stack);

}  // namespace podsim
