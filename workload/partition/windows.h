// Collectives that run as rings of blocks beside the computation that needs them: collective matmul and ring
// attention.
#pragma once

#include <string>
#include <vector>

#include "workload/op_planning/plan.h"
#include "workload/partition/program.h"

namespace podsim {

// Which moves of one operation run as rings.
struct Windowed {
  std::vector<bool> inputs;   // [operand] its last step, a gather
  std::vector<bool> outputs;  // [result] its first step, a scatter
};

// Attention under KeyExchange::kRing passes keys, values and their gradients round. With
// Stack::windowed_einsum a matmul does so with a gathered input or a scattered result where that is faster
// than one after the other: max(c, r) + 2 r / n < c + g for a computation c, the collective g, the ring r and
// n blocks, n at most 32, and nobody else needs the gathered input. Source: the windowed einsum of
// openxla/xla.
Windowed windowed_moves(const PlanContext& context, const Operation& op, const OperationPlan& plan);

// The ring that a gather or a scatter becomes.
CollectiveOp ring_of(const std::string& tensor, const PlanStep& step, Purpose purpose);

}  // namespace podsim
