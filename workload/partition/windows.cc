// Collectives that run as rings of blocks beside the computation that needs them: collective matmul and ring
// attention.
#include "workload/partition/windows.h"

#include <algorithm>

#include "workload/job/job.h"
#include "workload/job/stack.h"

namespace podsim {
namespace {

constexpr int kMostBlocks = 32;

bool gathers(const std::vector<PlanStep>& steps) {
  return !steps.empty() && steps.back().kind == StepKind::kAllGather;
}
bool scatters(const std::vector<PlanStep>& steps) {
  return !steps.empty() && steps.front().kind == StepKind::kReduceScatter;
}

int users(const Graph& graph, TensorId tensor) {
  int count = 0;
  for (const Operation& op : graph.operations) {
    count += static_cast<int>(std::count_if(op.inputs.begin(), op.inputs.end(),
                                            [&](const Operand& input) { return input.tensor == tensor; }));
  }
  return count;
}

// Seconds saved by running the collective as a ring beside the computation.
double saving(const PlanContext& context, const OperationPlan& plan, const PlanStep& step) {
  const int blocks = shard_count(step.axes);
  if (blocks < 2 || blocks > kMostBlocks) return 0;
  const CollectiveOp ring = ring_of("", step, Purpose::kActivation);
  const double computation = context.cost.compute(Flops{plan.moves.flops});
  const double collective =
      context.cost.collective(*collective_of(step.kind), step.axes, collective_bytes(step));
  const double around =
      (blocks - 1) * context.cost.collective(CollectiveKind::kPermute, step.axes, ring.bytes);
  return computation + collective - std::max(computation, around) - 2 * around / blocks;
}

// The move of a matmul that gains most as a ring; at most one, since blocks of both would have to meet.
void choose_for_matmul(const PlanContext& context, const Operation& op, const OperationPlan& plan,
                       Windowed& windowed) {
  double most = 0;
  const Windowed none = windowed;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorId id = op.inputs[i].tensor;
    if (is_parameter(context.tensor(id)) || !gathers(plan.moves.operand_steps[i])) continue;
    if (op.backward || users(context.graph, id) > 1) continue;
    const double gain = saving(context, plan, plan.moves.operand_steps[i].back());
    if (gain <= most) continue;
    most = gain;
    windowed = none;
    windowed.inputs[i] = true;
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const bool activation = context.tensor(op.outputs[i].tensor).role == TensorRole::kActivation;
    if (!activation || !scatters(plan.moves.result_steps[i])) continue;
    const double gain = saving(context, plan, plan.moves.result_steps[i].front());
    if (gain <= most) continue;
    most = gain;
    windowed = none;
    windowed.outputs[i] = true;
  }
}

}  // namespace

Windowed windowed_moves(const PlanContext& context, const Operation& op, const OperationPlan& plan) {
  Windowed windowed{std::vector<bool>(op.inputs.size(), false), std::vector<bool>(op.outputs.size(), false)};
  if (op.kind == OperationKind::kAttention && op.key_exchange == KeyExchange::kRing) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      windowed.inputs[i] = gathers(plan.moves.operand_steps[i]);
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      windowed.outputs[i] = scatters(plan.moves.result_steps[i]);
  }
  if (op.kind == OperationKind::kEinsum && context.job.stack.windowed_einsum && context.cost.timed())
    choose_for_matmul(context, op, plan, windowed);
  return windowed;
}

CollectiveOp ring_of(const std::string& tensor, const PlanStep& step, Purpose purpose) {
  const Bytes block = step.kind == StepKind::kReduceScatter ? step.result : step.operand;
  return {tensor, CollectiveKind::kPermute, axis_set(step.axes), block, purpose, shard_count(step.axes)};
}

}  // namespace podsim
