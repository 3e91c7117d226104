// Sums over the steps of a plan.
#include "workload/cases/case_plan.h"

#include <cmath>

namespace podsim {

void CasePlan::add(const std::string& tensor, const std::vector<PlanStep>& more) {
  for (const PlanStep& step : more) steps.push_back({tensor, step});
}

std::int64_t whole_bytes(Bytes bytes) { return std::llround(bytes.value); }

std::int64_t sent_in_all(const CasePlan& plan) {
  std::int64_t sent = 0;
  for (const CaseStep& s : plan.steps) sent += s.step.count * whole_bytes(s.step.sent);
  return sent;
}

int executions(const CasePlan& plan) {
  int count = 0;
  for (const CaseStep& s : plan.steps) count += collective_of(s.step.kind) ? s.step.count : 0;
  return count;
}

double seconds_of(const CasePlan& plan, const CostModel& cost) {
  double seconds = cost.compute(Flops{plan.flops});
  for (const CaseStep& s : plan.steps) seconds += step_cost(s.step, cost).value;
  return seconds;
}

}  // namespace podsim
