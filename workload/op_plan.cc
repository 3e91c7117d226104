// How one operation is cut: plans the most promising axes per factor until no others can be cheaper.
#include "workload/op_plan.h"

#include <algorithm>
#include <limits>

#include "engine/check.h"
#include "workload/factor_search.h"

namespace podsim {
namespace {

// Costs this near are equal: they are sums of fractions, added in different order.
constexpr double kRounding = 1e-9;

bool above(double a, double b) { return a - b > kRounding * b; }

bool cheaper(const PlanCost& a, const PlanCost& b) {
  if (above(a.value, b.value) || above(b.value, a.value)) return a.value < b.value;
  if (above(a.bytes, b.bytes) || above(b.bytes, a.bytes)) return a.bytes < b.bytes;
  if (above(a.flops, b.flops) || above(b.flops, a.flops)) return a.flops < b.flops;
  return a.steps < b.steps;
}

// Steps between two layouts of a tensor, and their cost.
struct Reshard {
  PileState from, to;
  std::vector<PlanStep> steps;
  PlanCost cost;
};

class OpPlanner {
 public:
  OpPlanner(const Mesh& mesh, const OpProblem& problem, const CostModel& cost)
      : mesh_(mesh),
        problem_(problem),
        cost_(cost),
        space_(mesh, problem, cost),
        operand_plans_(problem.operands.size()),
        result_plans_(problem.results.size()) {}

  OpPlan plan() {
    const double limit =
        cost_.timed() ? std::numeric_limits<double>::infinity() : space_.flops(common_piles(space_));
    std::vector<FactorChoice> choices = factor_choices(space_, cost_, limit);
    // Nothing within the limit can be laid out (halos aside): compute more.
    if (choices.empty()) choices = factor_choices(space_, cost_, std::numeric_limits<double>::infinity());
    search(choices);
    if (plans_.empty() && limit < std::numeric_limits<double>::infinity())
      search(factor_choices(space_, cost_, std::numeric_limits<double>::infinity()));
    PODSIM_CHECK(!plans_.empty(), "an operation whose factors are all whole can be planned");
    return finished();
  }

 private:
  struct Planned {
    FactorPiles piles;
    PlanCost cost;
  };

  std::size_t wanted() const { return 1 + static_cast<std::size_t>(std::max(0, problem_.keep_alternatives)); }

  void search(const std::vector<FactorChoice>& choices) {
    for (const FactorChoice& choice : choices) {
      if (plans_.size() >= wanted()) {
        const PlanCost& beaten = plans_[wanted() - 1].cost;
        if (above(choice.bound.value, beaten.value)) break;
        if (!cheaper(choice.bound, beaten)) continue;
      }
      if (const auto cost = price(choice.piles)) {
        const auto place =
            std::upper_bound(plans_.begin(), plans_.end(), *cost,
                             [](const PlanCost& a, const Planned& b) { return cheaper(a, b.cost); });
        plans_.insert(place, {choice.piles, *cost});
      }
    }
  }

  std::optional<PlanCost> price(const FactorPiles& piles) {
    PlanCost exposed{.flops = space_.flops(piles)}, hidden;
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      const OpOperand& operand = problem_.operands[i];
      const Reshard& reshard = operand_plan(i, *space_.required(i, piles));
      PlanCost cost = reshard.cost;
      if (problem_.prepare) {
        const auto steps = problem_.prepare(i, space_.axes(piles), layout(space_.operands()[i], reshard.to));
        if (!steps) return {};
        add(cost, total_cost(*steps, cost_));
      }
      cost.value *= operand.repeats;
      cost.bytes *= operand.repeats;
      add(operand.hidden ? hidden : exposed, cost);
    }
    add(exposed, total_cost(space_.statistics(piles), cost_));
    for (std::size_t i = 0; i < problem_.results.size(); ++i) {
      const PileState natural = *space_.natural(i, piles);
      add(exposed, result_plan(i, natural, space_.kept(i, natural)).cost);
    }
    exposed.value += std::max(cost_.compute(Flops{exposed.flops}), hidden.value);
    exposed.bytes += hidden.bytes;
    exposed.steps += hidden.steps;
    return exposed;
  }

  static void add(PlanCost& sum, const PlanCost& cost) {
    sum.value += cost.value;
    sum.bytes += cost.bytes;
    sum.steps += cost.steps;
  }

  Layout layout(const OpTensor& tensor, const PileState& state) const {
    return tensor.space.layout_of(state, replicated(tensor.map->size()));
  }

  Reshard reshard(const OpTensor& tensor, const PileState& from, const PileState& to,
                  const Layout& start) const {
    Reshard plan{.from = from, .to = to, .steps = {}, .cost = {}};
    plan.steps = plan_reshard(mesh_, *tensor.shape, start, layout(tensor, to), cost_, problem_.whole_axes);
    plan.cost = total_cost(plan.steps, cost_);
    return plan;
  }

  // From the cheapest available layout.
  const Reshard& operand_plan(std::size_t i, const PileState& to) {
    for (const Reshard& plan : operand_plans_[i])
      if (plan.to == to) return plan;
    const OpTensor& operand = space_.operands()[i];
    std::optional<Reshard> best;
    for (std::size_t k = 0; k < operand.known.size(); ++k) {
      const double missing = operand.space.bytes_missing(operand.known[k], to);
      if (best && cost_.at_least(Bytes{missing}) >= best->cost.value) continue;
      Reshard plan = reshard(operand, operand.known[k], to, problem_.operands[i].available[k]);
      if (!best || cheaper(plan.cost, best->cost)) best = std::move(plan);
    }
    return operand_plans_[i].emplace_back(*std::move(best));
  }

  const Reshard& result_plan(std::size_t i, const PileState& from, const PileState& to) {
    for (const Reshard& plan : result_plans_[i])
      if (plan.from == from && plan.to == to) return plan;
    const OpTensor& result = space_.results()[i];
    return result_plans_[i].emplace_back(reshard(result, from, to, layout(result, from)));
  }

  OpPlan finished() {
    const Planned& best = plans_.front();
    OpPlan plan{.factors = space_.axes(best.piles),
                .operand_steps = {},
                .required = {},
                .statistics = space_.statistics(best.piles),
                .natural = {},
                .result_steps = {},
                .kept = {},
                .flops = best.cost.flops,
                .cost = best.cost,
                .alternatives = {}};
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      const Reshard& reshard = operand_plan(i, *space_.required(i, best.piles));
      plan.required.push_back(layout(space_.operands()[i], reshard.to));
      plan.operand_steps.push_back(reshard.steps);
      if (!problem_.prepare) continue;
      const auto steps = *problem_.prepare(i, plan.factors, plan.required.back());
      plan.operand_steps.back().insert(plan.operand_steps.back().end(), steps.begin(), steps.end());
    }
    for (std::size_t i = 0; i < problem_.results.size(); ++i) {
      const OpTensor& result = space_.results()[i];
      const PileState natural = *space_.natural(i, best.piles);
      const Reshard& reshard = result_plan(i, natural, space_.kept(i, natural));
      plan.natural.push_back(layout(result, natural));
      plan.kept.push_back(layout(result, reshard.to));
      plan.result_steps.push_back(reshard.steps);
    }
    for (std::size_t k = 1; k < plans_.size() && k < wanted(); ++k)
      plan.alternatives.push_back({space_.axes(plans_[k].piles), plans_[k].cost});
    return plan;
  }

  const Mesh& mesh_;
  const OpProblem& problem_;
  const CostModel& cost_;
  const OpSpace space_;
  std::vector<std::vector<Reshard>> operand_plans_, result_plans_;  // [tensor] planned so far
  std::vector<Planned> plans_;                                      // cheapest first
};

}  // namespace

OpPlan plan_op(const Mesh& mesh, const OpProblem& problem, const CostModel& cost) {
  return OpPlanner(mesh, problem, cost).plan();
}

}  // namespace podsim
