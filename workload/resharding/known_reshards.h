// Steps between layouts on one mesh, remembered: operations that read one weight, and microbatches of any
// size, ask for the same ones.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "workload/resharding/problem_key.h"
#include "workload/resharding/reshard_plan.h"

namespace podsim {

struct PlannedReshard {
  std::vector<PlanStep> steps;
  PlanCost cost;
};

// As plan_reshard, with its cost.
std::shared_ptr<const PlannedReshard> planned_reshard(const Mesh& mesh, const TensorShape& shape,
                                                      const Layout& from, const Layout& to,
                                                      const CostModel& cost, AxisSplit split,
                                                      double give_up_at);

// Not for several threads at once.
class KnownReshards {
 public:
  // As planned_reshard, whatever was asked before: where a search gives up is a part of what is asked.
  // REQUIRES: one cost model for all calls, whose prices do not change.
  std::shared_ptr<const PlannedReshard> reshard(const Mesh& mesh, const TensorShape& shape,
                                                const Layout& from, const Layout& to, const CostModel& cost,
                                                AxisSplit split, double give_up_at);

 private:
  ProblemKey key_;
  std::unordered_map<ProblemKey::Words, std::shared_ptr<const PlannedReshard>, ProblemKey::Hash> known_;
};

}  // namespace podsim
