// The answer to a sharding case: the steps, on which tensor each, and what they cost one device.
#pragma once

#include <string>
#include <vector>

#include "workload/mesh/annotation.h"
#include "workload/resharding/reshard_plan.h"

namespace podsim {

struct CaseStep {
  std::string tensor;  // "lhs", "output", "kv"
  PlanStep step;
};

struct CasePlan {
  std::string error = {};  // why there is no plan; the rest is then empty
  std::vector<CaseStep> steps = {};
  std::vector<Annotation> propagated = {};  // [tensor] of a question about propagation
  double flops = 0;                         // of one device

  void add(const std::string& tensor, const std::vector<PlanStep>& more);
};

// Bytes of a step as they are written: rounded to whole ones.
std::int64_t whole_bytes(Bytes bytes);
// Sent by one device, all executions of all steps.
std::int64_t sent_in_all(const CasePlan& plan);
// Executions of collectives.
int executions(const CasePlan& plan);

// Collectives one after the other and the computation, alone on the fabric of `cost`.
double seconds_of(const CasePlan& plan, const CostModel& cost);

}  // namespace podsim
