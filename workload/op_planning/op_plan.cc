// How one operation is cut: plans the most promising axes per factor until no others can be cheaper.
#include "workload/op_planning/op_plan.h"

#include <algorithm>
#include <limits>

#include "engine/check.h"
#include "workload/op_planning/factor_search.h"
#include "workload/op_planning/known_plans.h"

namespace podsim {
namespace {

// Costs this near are equal: they are sums of fractions, added in different order.
constexpr double kRounding = 1e-9;

// So many choices of axes are planned at most; bounds rarely leave more than a few.
constexpr int kMaxPriced = 200;
constexpr double kEverything = std::numeric_limits<double>::infinity();

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
  Layout started = {};
  std::shared_ptr<const PlannedReshard> planned = {};
  double searched = 0;  // the cheapest of all starts if below this value
};

// What the tensors of an operation cost, each by a bound until its plan is known.
class Bill {
 public:
  explicit Bill(double compute) : compute_(compute) {}

  void add(const PlanCost& cost, double repeats = 1, bool hidden = false) {
    lines_.push_back({cost, repeats, hidden});
  }
  void replace(std::size_t line, const PlanCost& cost) { lines_[line].cost = cost; }

  PlanCost total() const {
    PlanCost sum{.value = exposed() + std::max(compute_, hidden())};
    for (const Line& line : lines_) {
      sum.bytes += line.repeats * line.cost.bytes;
      sum.steps += line.cost.steps;
    }
    return sum;
  }

  // What one execution on the line may cost for the total to stay at `most`.
  double room(std::size_t line, double most) const {
    const Line& own = lines_[line];
    const double mine = own.repeats * own.cost.value;
    const double others = own.hidden ? exposed() + hidden() - mine : total().value - mine;
    return (most - others) / own.repeats;
  }

 private:
  struct Line {
    PlanCost cost;
    double repeats;
    bool hidden;
  };

  double sum(bool of_hidden) const {
    double value = 0;
    for (const Line& line : lines_)
      if (line.hidden == of_hidden) value += line.repeats * line.cost.value;
    return value;
  }
  double exposed() const { return sum(false); }
  double hidden() const { return sum(true); }

  double compute_;
  std::vector<Line> lines_;
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

  // Nothing where no cut of the factors is possible.
  std::optional<OpPlan> plan() {
    const double limit = cost_.timed() ? kEverything : space_.flops(common_piles(space_));
    std::vector<FactorChoice> choices = factor_choices(space_, cost_, limit);
    // Nothing within the limit can be laid out (halos aside): compute more.
    if (choices.empty()) choices = factor_choices(space_, cost_, kEverything);
    search(choices);
    if (plans_.empty() && limit < kEverything) search(factor_choices(space_, cost_, kEverything));
    if (plans_.empty()) return std::nullopt;
    return finished();
  }

 private:
  struct Planned {
    FactorPiles piles;
    PlanCost cost;
  };

  std::size_t wanted() const { return 1 + static_cast<std::size_t>(std::max(0, problem_.keep_alternatives)); }

  void search(const std::vector<FactorChoice>& choices) {
    int priced = 0;
    for (const FactorChoice& choice : choices) {
      if (!plans_.empty() && priced++ >= kMaxPriced) break;
      double most = kEverything;
      if (plans_.size() >= wanted()) {
        const PlanCost& beaten = plans_[wanted() - 1].cost;
        if (above(choice.bound.value, beaten.value)) break;
        if (!cheaper(choice.bound, beaten)) continue;
        most = beaten.value * (1 + 2 * kRounding);
      }
      if (const auto cost = price(choice.piles, most)) {
        const auto place =
            std::upper_bound(plans_.begin(), plans_.end(), *cost,
                             [](const PlanCost& a, const Planned& b) { return cheaper(a, b.cost); });
        plans_.insert(place, {choice.piles, *cost});
      }
    }
  }

  // Nothing where the plan is impossible, or costs more than `most`.
  std::optional<PlanCost> price(const FactorPiles& piles, double most) {
    const double flops = space_.flops(piles);
    Bill bill(cost_.compute(Flops{flops}));
    std::vector<PileState> required, natural;
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      required.push_back(*space_.required(i, piles));
      bill.add({.value = least(space_.operands()[i], required[i])}, problem_.operands[i].repeats,
               problem_.operands[i].hidden);
    }
    for (std::size_t i = 0; i < problem_.results.size(); ++i) {
      natural.push_back(*space_.natural(i, piles));
      const ReshardSpace& space = space_.results()[i].space;
      bill.add({.value = space.at_least_between(natural[i], space_.kept(i, natural[i]))});
    }
    bill.add(total_cost(space_.statistics(piles), cost_));
    bill.add({.value = owed(natural)});
    if (bill.total().value > most) return {};
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      PlanCost cost = operand_plan(i, required[i], bill.room(i, most)).planned->cost;
      if (problem_.prepare) {
        const auto steps = problem_.prepare(i, space_.axes(piles), layout(space_.operands()[i], required[i]));
        if (!steps) return {};
        const PlanCost halos = total_cost(*steps, cost_);
        cost.value += halos.value;
        cost.bytes += halos.bytes;
        cost.steps += halos.steps;
      }
      bill.replace(i, cost);
      if (bill.total().value > most) return {};
    }
    for (std::size_t i = 0; i < problem_.results.size(); ++i) {
      const std::size_t line = problem_.operands.size() + i;
      const PileState kept = space_.kept(i, natural[i]);
      bill.replace(line, result_plan(i, natural[i], kept, bill.room(line, most)).planned->cost);
      if (bill.total().value > most) return {};
    }
    PlanCost cost = bill.total();
    cost.flops = flops;
    return cost;
  }

  // Scattering sums is the cheapest way to reduce them, and no algorithm scatters faster than links carry.
  double owed(const std::vector<PileState>& natural) const {
    double value = 0;
    for (std::size_t i = 0; i < natural.size(); ++i) {
      if (!problem_.results[i].owes_sums) continue;
      const Pile open = difference(natural[i].at[kSums], space_.carried());
      const ReshardSpace& space = space_.results()[i].space;
      if (open != 0)
        value += space.price_at_least(CollectiveKind::kReduceScatter, open, space.bytes(natural[i]));
    }
    return value;
  }

  // What bringing an operand to a layout costs at least.
  double least(const OpTensor& operand, const PileState& to) const {
    double least = kEverything;
    for (const PileState& known : operand.known)
      least = std::min(least, operand.space.at_least_between(known, to));
    return least;
  }

  Layout layout(const OpTensor& tensor, const PileState& state) const {
    return tensor.space.layout_of(state, replicated(tensor.map->size()));
  }

  void plan(Reshard& reshard, const OpTensor& tensor, const Layout& start, double most) const {
    const Layout end = layout(tensor, reshard.to);
    const CostModel& cost = *tensor.cost;
    KnownPlans* known = cost.known_plans();
    reshard.planned =
        known ? known->reshards.reshard(mesh_, *tensor.shape, start, end, cost, problem_.split, most)
              : planned_reshard(mesh_, *tensor.shape, start, end, cost, problem_.split, most);
    reshard.searched = most;
  }

  static bool known(const Reshard& plan, double most) {
    return plan.planned->cost.value < plan.searched || plan.searched >= most;
  }

  // From the cheapest available layout; some plan where all cost more than `most`.
  const Reshard& operand_plan(std::size_t i, const PileState& to, double most) {
    std::vector<Reshard>& plans = operand_plans_[i];
    auto plan_of =
        std::find_if(plans.begin(), plans.end(), [&](const Reshard& plan) { return plan.to == to; });
    if (plan_of == plans.end()) {
      plans.push_back({.from = {}, .to = to});
      plan_of = plans.end() - 1;
    } else if (known(*plan_of, most)) {
      return *plan_of;
    }
    const double give_up = most * (1 + 2 * kRounding);
    const OpTensor& operand = space_.operands()[i];
    for (std::size_t k = 0; k < operand.known.size(); ++k) {
      Reshard other{.from = operand.known[k], .to = to, .started = problem_.operands[i].available[k]};
      const double missing = operand.space.at_least(operand.space.bytes_missing(other.from, to));
      if (k > 0 && (missing >= plan_of->planned->cost.value ||
                    above(operand.space.at_least_between(other.from, to), plan_of->planned->cost.value)))
        continue;
      plan(other, operand, problem_.operands[i].available[k], give_up);
      if (k == 0 || cheaper(other.planned->cost, plan_of->planned->cost)) *plan_of = std::move(other);
    }
    return *plan_of;
  }

  const Reshard& result_plan(std::size_t i, const PileState& from, const PileState& to, double most) {
    std::vector<Reshard>& plans = result_plans_[i];
    auto plan_of = std::find_if(plans.begin(), plans.end(),
                                [&](const Reshard& plan) { return plan.from == from && plan.to == to; });
    if (plan_of == plans.end()) {
      plans.push_back({.from = from, .to = to});
      plan_of = plans.end() - 1;
    } else if (known(*plan_of, most)) {
      return *plan_of;
    }
    plan(*plan_of, space_.results()[i], layout(space_.results()[i], from), most * (1 + 2 * kRounding));
    return *plan_of;
  }

  OpPlan finished() {
    const Planned& best = plans_.front();
    OpPlan plan{.factors = space_.axes(best.piles),
                .operand_steps = {},
                .started = {},
                .required = {},
                .statistics = space_.statistics(best.piles),
                .natural = {},
                .result_steps = {},
                .kept = {},
                .flops = best.cost.flops,
                .cost = best.cost,
                .owed = 0,
                .alternatives = {}};
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      const Reshard& reshard = operand_plan(i, *space_.required(i, best.piles), kEverything);
      plan.required.push_back(layout(space_.operands()[i], reshard.to));
      plan.started.push_back(reshard.started);
      plan.operand_steps.push_back(reshard.planned->steps);
      if (!problem_.prepare) continue;
      const auto steps = *problem_.prepare(i, plan.factors, plan.required.back());
      plan.operand_steps.back().insert(plan.operand_steps.back().end(), steps.begin(), steps.end());
    }
    std::vector<PileState> left;
    for (std::size_t i = 0; i < problem_.results.size(); ++i) {
      const OpTensor& result = space_.results()[i];
      const PileState natural = *space_.natural(i, best.piles);
      left.push_back(natural);
      const Reshard& reshard = result_plan(i, natural, space_.kept(i, natural), kEverything);
      plan.natural.push_back(layout(result, natural));
      plan.kept.push_back(layout(result, reshard.to));
      plan.result_steps.push_back(reshard.planned->steps);
    }
    plan.owed = owed(left);
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
  if (auto plan = OpPlanner(mesh, problem, cost).plan()) return *std::move(plan);
  // What was settled cannot be: all is searched.
  OpProblem free = problem;
  free.settled.clear();
  auto plan = OpPlanner(mesh, free, cost).plan();
  PODSIM_CHECK(plan.has_value(), "an operation whose factors are all whole can be planned");
  return *std::move(plan);
}

}  // namespace podsim
