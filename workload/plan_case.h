// The cheapest plan for a sharding case.
#pragma once

#include "workload/case_plan.h"
#include "workload/cost_model.h"
#include "workload/shard_case.h"

namespace podsim {

// Deterministic. A question that has no plan gives an error.
CasePlan plan_case(const ShardCase& question, const CostModel& cost);

}  // namespace podsim
