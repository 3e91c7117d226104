// An operation as a search problem: atoms of the axes that occur, piles of them on factors.
#include "workload/op_planning/op_space.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr double kStatisticBytes = 4;  // fp32

// All layouts in one, as lists of axes that occur.
std::vector<const AxisList*> lists_of(const OpProblem& problem) {
  std::vector<const AxisList*> lists{&problem.carried};
  const auto add = [&](const Layout& layout) {
    for (const AxisList& dim : layout.dims) lists.push_back(&dim);
    lists.push_back(&layout.unreduced);
  };
  for (const OpOperand& operand : problem.operands)
    for (const Layout& layout : operand.available) add(layout);
  for (const OpResult& result : problem.results)
    if (result.wanted) add(*result.wanted);
  return lists;
}

// The axes that occur, cut where they are cut, or whole where that makes too many.
std::vector<AxisRef> atoms_of(const Mesh& mesh, const OpProblem& problem) {
  std::vector<std::set<int>> cuts(mesh.axes.size());
  for (const AxisList* list : lists_of(problem)) {
    for (const AxisRef& ref : *list)
      cuts[static_cast<std::size_t>(ref.axis)].insert(
          {ref.pre, ref.pre * ref.size, mesh.axes[static_cast<std::size_t>(ref.axis)].size});
  }
  std::vector<AxisRef> atoms;
  for (std::size_t axis = 0; axis < cuts.size(); ++axis) {
    int pre = 1;
    for (const int cut : cuts[axis]) {
      if (cut == pre) continue;
      atoms.push_back({static_cast<int>(axis), pre, cut / pre});
      pre = cut;
    }
  }
  PODSIM_CHECK(atoms.size() <= kMaxLabels, "an operation has at most 15 axes or pieces of axes");
  return atoms;
}

std::vector<int> all_dims(const TensorShape& shape) {
  std::vector<int> dims;
  for (std::size_t d = 0; d < shape.dims.size(); ++d) dims.push_back(static_cast<int>(d));
  return dims;
}

Pile concatenated(Pile major, Pile minor) { return major << (4 * height(minor)) | minor; }

}  // namespace

std::optional<int> OpSpace::settled(int atom) const {
  for (const auto& [axis, factor] : problem_.settled) {
    if (overlap(axis, atoms_[static_cast<std::size_t>(atom) - 1])) return factor;
  }
  return std::nullopt;
}

OpSpace::OpSpace(const Mesh& mesh, const OpProblem& problem, const CostModel& cost)
    : problem_(problem), cost_(cost), atoms_(atoms_of(mesh, problem)) {
  const Layout carried{.dims = {}, .unreduced = problem.carried};
  if (!problem.carried.empty()) carried_ = ReshardSpace({}, {}, atoms_, cost).state_of(carried).at[kSums];
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const OpOperand& given = problem.operands[i];
    OpTensor operand = tensor(problem.rule.operands[i], given.shape, given.shared_along);
    for (const Layout& layout : given.available) {
      operand.known.push_back(operand.space.state_of(layout));
      operand.known_piles.push_back(project(operand, operand.known.back()));
    }
    operands_.push_back(std::move(operand));
  }
  for (std::size_t i = 0; i < problem.results.size(); ++i) {
    const OpResult& given = problem.results[i];
    OpTensor result = tensor(problem.rule.results[i], given.shape, given.shared_along);
    if (given.wanted) {
      result.known.push_back(result.space.state_of(*given.wanted));
      result.known_piles.push_back(project(result, result.known.back()));
    }
    results_.push_back(std::move(result));
  }
}

OpTensor OpSpace::tensor(const FactorMap& map, const TensorShape& shape, const AxisList& shared_along) {
  PODSIM_CHECK(shape.dims.size() <= kMaxDims, "a tensor has at most 8 dimensions");
  PODSIM_CHECK(map.size() == shape.dims.size(), "the rule knows every dimension");
  const CostModel& cost = shared_along.empty() ? cost_ : shared_.emplace_back(cost_, shared_along);
  OpTensor made{.map = &map,
                .shape = &shape,
                .cost = &cost,
                .space = ReshardSpace(shape, all_dims(shape), atoms_, cost),
                .known = {},
                .known_piles = {}};
  made.elements = made.space.bytes({}) / shape.element_bytes;
  return made;
}

bool OpSpace::windowed(const OpTensor& tensor, std::size_t dim) const {
  return std::any_of(problem_.rule.windows.begin(), problem_.rule.windows.end(), [&](const Window& window) {
    return &problem_.rule.operands[static_cast<std::size_t>(window.operand)] == tensor.map &&
           static_cast<std::size_t>(window.dim) == dim;
  });
}

FactorPiles OpSpace::project(const OpTensor& tensor, const PileState& state) const {
  FactorPiles piles(factors());
  for (std::size_t d = 0; d < tensor.map->size(); ++d) {
    const std::vector<int>& dim = (*tensor.map)[d];
    std::size_t next = 0;
    for (int i = 0; i < height(state.at[d]) && next < dim.size(); ++i) {
      const int atom = at_depth(state.at[d], i);
      if (difference(inserted(0, atom), carried_) == 0) break;
      auto f = static_cast<std::size_t>(dim[next]);
      if (shards(piles[f]) == factor(f).size && next + 1 < dim.size())
        f = static_cast<std::size_t>(dim[++next]);
      piles[f] = pushed(piles[f], atom);
    }
  }
  return piles;
}

std::int64_t OpSpace::shards(Pile pile) const {
  return product_of(pile, [this](int label) { return size(label); });
}

AxisList OpSpace::axes(Pile pile) const {
  AxisList list;
  for (int i = 0; i < height(pile); ++i)
    list.push_back(atoms_[static_cast<std::size_t>(at_depth(pile, i)) - 1]);
  return merged(std::move(list));
}

std::vector<AxisList> OpSpace::axes(const FactorPiles& piles) const {
  std::vector<AxisList> lists;
  for (const Pile pile : piles) lists.push_back(axes(pile));
  return lists;
}

std::optional<PileState> OpSpace::placed(const OpTensor& tensor, const FactorPiles& piles) const {
  PileState state;
  for (std::size_t d = 0; d < tensor.map->size(); ++d) {
    bool whole_so_far = true;  // every major factor is cut to single indices
    int cut = 0;
    for (const int f : (*tensor.map)[d]) {
      const Pile pile = piles[static_cast<std::size_t>(f)];
      if (pile != 0) {
        ++cut;
        if (!whole_so_far && (cut > 1 || !windowed(tensor, d))) return std::nullopt;
        state.at[d] = concatenated(state.at[d], pile);
      }
      whole_so_far &= shards(pile) == factor(static_cast<std::size_t>(f)).size;
    }
  }
  return state;
}

std::optional<PileState> OpSpace::required(std::size_t operand, const FactorPiles& piles) const {
  std::optional<PileState> state = placed(operands_[operand], piles);
  if (state) state->at[kSums] = carried_;
  return state;
}

bool OpSpace::sums_over(std::size_t f, const FactorMap& result) const {
  const FactorKind kind = factor(f).kind;
  if (kind != FactorKind::kPassThrough && kind != FactorKind::kReduction) return false;
  const auto& statistics = problem_.rule.statistics;
  return !has_factor(result, f) && std::any_of(operands_.begin(), operands_.end(), [&](const OpTensor& t) {
    return has_factor(*t.map, f);
  }) && std::none_of(statistics.begin(), statistics.end(), [&](const Statistic& s) {
    return s.factor == static_cast<int>(f);
  });
}

std::optional<PileState> OpSpace::natural(std::size_t result, const FactorPiles& piles) const {
  std::optional<PileState> state = placed(results_[result], piles);
  if (!state) return state;
  state->at[kSums] = carried_;
  for (std::size_t f = 0; f < piles.size(); ++f) {
    if (piles[f] == 0 || !sums_over(f, *results_[result].map)) continue;
    for (Pile pile = piles[f]; pile != 0; pile = popped(pile))
      state->at[kSums] = inserted(state->at[kSums], top(pile));
  }
  return state;
}

PileState OpSpace::kept(std::size_t result, const PileState& natural) const {
  if (!problem_.results[result].wanted) return natural;
  PileState state = results_[result].known[0];
  if (!problem_.results[result].partial_allowed) return state;
  Pile waiting = difference(natural.at[kSums], state.at[kSums]);
  for (std::size_t d = 0; d < results_[result].map->size(); ++d)
    for (Pile pile = state.at[d]; pile != 0; pile = popped(pile))
      if (difference(inserted(0, top(pile)), waiting) == 0) waiting = removed(waiting, top(pile));
  for (; waiting != 0; waiting = popped(waiting)) state.at[kSums] = inserted(state.at[kSums], top(waiting));
  return state;
}

double OpSpace::flops(const FactorPiles& piles) const {
  double flops = problem_.flops_per_point;
  for (std::size_t f = 0; f < piles.size(); ++f)
    flops *= std::ceil(static_cast<double>(factor(f).size) / static_cast<double>(shards(piles[f])));
  return flops;
}

std::vector<PlanStep> OpSpace::statistics(const FactorPiles& piles) const {
  std::vector<PlanStep> steps;
  for (const Statistic& statistic : problem_.rule.statistics) {
    const auto reduced = static_cast<std::size_t>(statistic.factor);
    if (piles[reduced] == 0) continue;
    const OpTensor& operand = operands_[0];
    double elements = 1;
    for (std::size_t d = 0; d < operand.map->size(); ++d) {
      const std::vector<int>& dim = (*operand.map)[d];
      AxisList cut;
      double rest = 1;
      bool without = false;
      for (const int f : dim) {
        const Pile pile = piles[static_cast<std::size_t>(f)];
        without |= f == statistic.factor;
        const AxisList more = axes(pile);
        cut.insert(cut.end(), more.begin(), more.end());
        if (f != statistic.factor)
          rest *= std::ceil(static_cast<double>(factor(static_cast<std::size_t>(f)).size) /
                            static_cast<double>(shards(pile)));
      }
      elements *= without ? rest : local_size(operand.shape->dims[d], cut);
    }
    const Bytes bytes{kStatisticBytes * elements};
    PlanStep step{
        .kind = StepKind::kAllReduce, .axes = canonical(axes(piles[reduced])), .count = statistic.count};
    step.operand = step.result = bytes;
    step.sent = sent_bytes(CollectiveKind::kAllReduce, shard_count(step.axes), bytes);
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace podsim
