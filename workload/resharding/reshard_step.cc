// What one step of a plan moves, and what that costs.
#include "workload/resharding/reshard_plan.h"

namespace podsim {

std::optional<CollectiveKind> collective_of(StepKind kind) {
  switch (kind) {
    case StepKind::kPermute:
    case StepKind::kHalo:
      return CollectiveKind::kPermute;
    case StepKind::kAllToAll:
      return CollectiveKind::kAllToAll;
    case StepKind::kAllGather:
      return CollectiveKind::kAllGather;
    case StepKind::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case StepKind::kAllReduce:
      return CollectiveKind::kAllReduce;
    case StepKind::kSlice:
    case StepKind::kCompute:
      return std::nullopt;
  }
  return std::nullopt;
}

Bytes collective_bytes(const PlanStep& step) {
  return step.kind == StepKind::kAllGather ? step.result : step.operand;
}

PlanCost step_cost(const PlanStep& step, const CostModel& cost) {
  const auto kind = collective_of(step.kind);
  if (!kind) return {};
  return {.value = step.count * cost.collective(*kind, step.axes, collective_bytes(step)),
          .bytes = step.count * step.sent.value,
          .steps = step.count};
}

PlanCost total_cost(const std::vector<PlanStep>& steps, const CostModel& cost) {
  PlanCost total;
  for (const PlanStep& step : steps) {
    const PlanCost one = step_cost(step, cost);
    total.value += one.value;
    total.bytes += one.bytes;
    total.steps += one.steps;
  }
  return total;
}

}  // namespace podsim
