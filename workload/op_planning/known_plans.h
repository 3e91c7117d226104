// Plans of operations on one mesh, remembered by all that they depend on: layers, microbatches and recompute
// ask for the same ones again and again.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "workload/resharding/known_reshards.h"

namespace podsim {

struct Operation;
struct OperationPlan;
struct PlanContext;

// Not for several threads at once.
class KnownPlans {
 public:
  // By which plans on the same mesh are chosen that no price has a say in.
  enum class Count : unsigned char { kCollectives, kBytes };

  // Those that are chosen so. Stays where it is.
  KnownPlans& fewest(Count of) {
    std::unique_ptr<KnownPlans>& known = fewest_[static_cast<std::size_t>(of)];
    if (!known) known = std::make_unique<KnownPlans>();
    return *known;
  }

  // What `make` has made of the operation, or of one that differs in nothing that a plan looks at. `cut` =
  // how it is to be cut, or nothing. REQUIRES: one cost model for all calls, whose prices do not change; the
  // operation has no windows.
  std::shared_ptr<const OperationPlan> plan(const PlanContext& context, const Operation& op,
                                            const std::vector<AxisList>* cut,
                                            const std::function<OperationPlan()>& make);

  // What the operations' tensors go through.
  KnownReshards reshards;

 private:
  ProblemKey key_;
  std::unordered_map<ProblemKey::Words, std::shared_ptr<const OperationPlan>, ProblemKey::Hash> plans_;
  std::array<std::unique_ptr<KnownPlans>, 2> fewest_;  // [Count], once asked for
};

}  // namespace podsim
