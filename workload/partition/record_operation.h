// What was decided about one operation, told for people.
#pragma once

#include <string>

#include "workload/op_planning/plan.h"
#include "workload/partition/partition_trace.h"

namespace podsim {

// `context` as it was before the operation ran. `suffix` ends the operation's name (" recompute").
OperationRecord record_operation(const PlanContext& context, const std::string& part, const Operation& op,
                                 const std::string& suffix, const OperationPlan& plan);

}  // namespace podsim
