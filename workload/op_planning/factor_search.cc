// Axes per factor worth planning, the most promising first.
#include "workload/op_planning/factor_search.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/index.h"

namespace podsim {
namespace {

class FactorSearch {
 public:
  FactorSearch(const OpSpace& space, const CostModel& cost, double flops_limit)
      : space_(space), cost_(cost), flops_limit_(flops_limit), piles_(space.factors()) {
    for (std::size_t f = 0; f < space.factors(); ++f) most_.push_back(space.factor(f).size);
    for (const auto* tensors : {&space.operands(), &space.results()})
      for (const OpTensor& tensor : *tensors)
        for (const FactorPiles& piles : tensor.known_piles)
          for (std::size_t f = 0; f < piles.size(); ++f) {
            most_[f] = std::max(most_[f], space.shards(piles[f]));
            known_.emplace_back(f, piles[f]);
          }
    for (int atom = 1; atom <= space.atoms(); ++atom) rest_ *= space.size(atom);
  }

  std::vector<FactorChoice> all() {
    unsigned carried = 0;
    for (Pile pile = space_.carried(); pile != 0; pile = popped(pile)) {
      carried |= 1u << top(pile);
      rest_ /= space_.size(top(pile));
    }
    choose(0, carried, rest_);
    std::sort(choices_.begin(), choices_.end(), [](const FactorChoice& a, const FactorChoice& b) {
      return std::tie(a.bound, a.slices, a.piles) < std::tie(b.bound, b.slices, b.piles);
    });
    return std::move(choices_);
  }

 private:
  // `used` = atoms on factors before f, `free` = shards that the others make.
  void choose(std::size_t f, unsigned used, double free) {
    if (choices_.size() >= kMaxChoices) return;
    if (f == piles_.size()) {
      if (settled_are_used(used)) offer();
      return;
    }
    // Whatever follows, the other axes do not bring the computation below the limit.
    if (flops_limit_ < std::numeric_limits<double>::infinity() &&
        space_.flops(piles_) / free > flops_limit_ * (1 + 1e-9))
      return;
    choose(f + 1, used, free);
    if (space_.factor(f).kind == FactorKind::kNeedReplication) return;
    for (int atom = 1; atom <= space_.atoms(); ++atom) {
      if (used >> atom & 1) continue;
      if (const auto factor = space_.settled(atom); factor && *factor != static_cast<int>(f)) continue;
      const Pile before = piles_[f], pile = pushed(before, atom);
      if (space_.shards(pile) > most_[f] || !ordered(f, before, atom)) continue;
      piles_[f] = pile;
      choose(f, used | 1u << atom, free / space_.size(atom));
      piles_[f] = before;
    }
  }

  bool settled_are_used(unsigned used) const {
    for (int atom = 1; atom <= space_.atoms(); ++atom)
      if (space_.settled(atom).value_or(-1) >= 0 && !(used >> atom & 1)) return false;
    return true;
  }

  bool ordered(std::size_t f, Pile before, int atom) const {
    if (space_.atoms() <= kAnyOrder || before == 0 || atom > top(before)) return true;
    const Pile pile = pushed(before, atom);
    return std::any_of(known_.begin(), known_.end(), [&](const auto& known) {
      const int more = height(known.second) - height(pile);
      return known.first == f && more >= 0 && known.second >> (4 * more) == pile;
    });
  }

  void offer() {
    FactorChoice choice{.piles = piles_, .bound = {.flops = space_.flops(piles_)}};
    if (choice.bound.flops > flops_limit_ * (1 + 1e-9)) return;
    double exposed = 0, hidden = 0;
    for (std::size_t i = 0; i < space_.operands().size(); ++i) {
      const auto state = space_.required(i, piles_);
      if (!state) return;
      const OpTensor& operand = space_.operands()[i];
      double missing = std::numeric_limits<double>::infinity();
      for (const PileState& known : operand.known)
        missing = std::min(missing, operand.space.bytes_missing(known, *state));
      const OpOperand& problem = space_.problem().operands[i];
      choice.bound.bytes += problem.repeats * missing;
      (problem.hidden ? hidden : exposed) += problem.repeats * operand.space.at_least(missing);
      const LabelCounts unused = operand.space.unused(operand.known[0]);
      for (const Pile pile : state->at)
        for (Pile left = pile; left != 0; left = popped(left)) choice.slices += unused[at(top(left))];
    }
    for (std::size_t i = 0; i < space_.results().size(); ++i) {
      const auto natural = space_.natural(i, piles_);
      if (!natural) return;
      const OpTensor& result = space_.results()[i];
      const double missing = result.space.bytes_missing(*natural, space_.kept(i, *natural));
      choice.bound.bytes += missing;
      exposed += result.space.at_least(missing);
    }
    for (const PlanStep& step : space_.statistics(piles_)) {
      const PlanCost one = step_cost(step, cost_);
      exposed += one.value;
      choice.bound.bytes += one.bytes;
    }
    choice.bound.value = exposed + std::max(hidden, cost_.compute(Flops{choice.bound.flops}));
    choices_.push_back(std::move(choice));
  }

  const OpSpace& space_;
  const CostModel& cost_;
  const double flops_limit_;
  double rest_ = 1;
  std::vector<std::int64_t> most_;                   // [factor] shards
  std::vector<std::pair<std::size_t, Pile>> known_;  // what tensors have on factors
  FactorPiles piles_;
  std::vector<FactorChoice> choices_;
};

}  // namespace

std::vector<FactorChoice> factor_choices(const OpSpace& space, const CostModel& cost, double flops_limit) {
  return FactorSearch(space, cost, flops_limit).all();
}

}  // namespace podsim
