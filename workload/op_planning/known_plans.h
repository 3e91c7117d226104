// Plans of operations on one mesh, remembered by all that they depend on: layers, microbatches and recompute
// ask for the same ones again and again.
#pragma once

#include <map>
#include <string>

#include "workload/op_planning/op_plan.h"

namespace podsim {

// Not for several threads at once.
class KnownPlans {
 public:
  // As plan_op. REQUIRES: one cost model for all calls, whose prices do not change. Stays until the next
  // call.
  const OpPlan& plan(const Mesh& mesh, const OpProblem& problem, const CostModel& cost);

 private:
  std::map<std::string, OpPlan> plans_;  // [the problem, byte by byte]
  OpPlan last_;                          // of a problem that is not remembered
};

}  // namespace podsim
