// Plans a part by other measures than time, and holds what comes out against it.
#include "workload/partition/part_cuts.h"

#include <array>
#include <utility>

#include "workload/job/job.h"
#include "workload/op_planning/known_plans.h"
#include "workload/partition/tensor_copies.h"
#include "workload/partition/windows.h"

namespace podsim {
namespace {

constexpr double kLess = 1e-3;  // of the part's time

// Of as many collectives those count that compute least: an operation has fewer FLOPs than this.
constexpr double kFlopsOfCollective = 1e15;

class FewestCollectives : public CostModel {
 public:
  explicit FewestCollectives(KnownPlans& known) : known_(known) {}
  double collective(CollectiveKind, const AxisList& axes, Bytes) const override {
    return shard_count(axes) > 1 ? 1 : 0;
  }
  double compute(Flops flops) const override { return flops.value / kFlopsOfCollective; }
  bool timed() const override { return true; }
  double at_least(Bytes received) const override { return received.value >= 1 ? 1 : 0; }
  KnownPlans* known_plans() const override { return &known_; }

 private:
  KnownPlans& known_;
};

class FewestBytes : public SentBytes {
 public:
  explicit FewestBytes(KnownPlans& known) : known_(known) {}
  KnownPlans* known_plans() const override { return &known_; }

 private:
  KnownPlans& known_;
};

class PartPlanner {
 public:
  PartPlanner(const Job& job, const CostModel& cost, const Graph& graph, const PartOperations& operations)
      : job_(job), cost_(cost), graph_(graph), operations_(operations) {}

  // Cuts that another job would have by another measure, and the seconds that they come to here; gives up
  // above `most`.
  std::pair<std::vector<Cut>, double> plan_as(const Job& other, const CostModel& measure, bool charges_sums,
                                              double most) const {
    TensorCopies copies(job_, graph_);
    std::vector<Cut> cuts;
    double seconds = 0;
    for (std::size_t i = 0; i < operations_.all.size() && seconds <= most; ++i) {
      if (i == operations_.forward) copies.end_block();
      if (i == operations_.forward + operations_.recomputed) copies.forget_activations();
      const Operation& op = *operations_.all[i];
      const PlanContext here{job_, cost_, graph_, copies.available(), copies.ruled()};
      const PlanContext measured{other, measure, graph_, copies.available(), copies.ruled(), charges_sums};
      cuts.push_back(plan_operation(measured, op)->moves.factors);
      const auto plan = plan_operation(here, op, cuts.back());
      seconds += plan->moves.cost.value - plan->moves.owed;
      copies.note(op, plan->moves, windowed_moves(here, op, *plan));
    }
    return {std::move(cuts), seconds};
  }

 private:
  const Job& job_;
  const CostModel& cost_;
  const Graph& graph_;
  const PartOperations& operations_;
};

}  // namespace

std::vector<Cut> better_cuts(const Job& job, const CostModel& cost, const Graph& graph,
                             const PartOperations& operations, double most) {
  const PartPlanner planner(job, cost, graph, operations);
  // Other parts on this mesh ask for the same.
  KnownPlans own;
  KnownPlans& known = cost.known_plans() != nullptr ? *cost.known_plans() : own;
  const FewestCollectives fewest_collectives(known.fewest(KnownPlans::Count::kCollectives));
  const FewestBytes fewest_bytes(known.fewest(KnownPlans::Count::kBytes));
  Job declared = job;
  declared.partitioner = Partitioner::kDeclared;
  // Sums that are left open may be reduced for less, once operations on their way have been cut.
  struct Way {
    const Job* job;
    const CostModel* measure;
    bool charges_sums;
  };
  const std::array<Way, 6> ways = {{{&job, &fewest_collectives, true},
                                    {&job, &fewest_bytes, true},
                                    {&declared, &cost, true},
                                    {&job, &fewest_collectives, false},
                                    {&job, &fewest_bytes, false},
                                    {&job, &cost, false}}};
  std::vector<Cut> best;
  for (const Way& way : ways) {
    const double below = most * (1 - kLess);
    auto [cuts, seconds] = planner.plan_as(*way.job, *way.measure, way.charges_sums, below);
    if (seconds > below) continue;
    best = std::move(cuts);
    most = seconds;
  }
  return best;
}

}  // namespace podsim
