// The cheapest plan for a sharding case.
#pragma once

#include "workload/cases/case_plan.h"
#include "workload/cases/shard_case.h"
#include "workload/resharding/cost_model.h"

namespace podsim {

// Deterministic. A question that has no plan gives an error.
CasePlan plan_case(const ShardCase& question, const CostModel& cost);

}  // namespace podsim
