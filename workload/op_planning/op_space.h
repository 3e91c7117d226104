// An operation as a search problem: atoms of the axes that occur, piles of them on factors, and the layouts
// of operands and results that follow.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "workload/op_planning/op_plan.h"
#include "workload/resharding/reshard_space.h"

namespace podsim {

// [factor] axes on it, the minor end on top.
using FactorPiles = std::vector<Pile>;

struct OpTensor {
  const FactorMap* map = nullptr;
  const TensorShape* shape = nullptr;
  const CostModel* cost = nullptr;  // of its collectives
  ReshardSpace space;
  std::vector<PileState> known;          // operand: available; result: wanted, if anything is
  std::vector<FactorPiles> known_piles;  // [known] what it puts on each factor; what fits none is left out
  double elements = 0;                   // global
};

class OpSpace {
 public:
  // REQUIRES: tensors of kMaxDims dimensions at most; problem and cost outlive this.
  OpSpace(const Mesh& mesh, const OpProblem& problem, const CostModel& cost);
  OpSpace(const OpSpace&) = delete;  // tensors point to its prices
  OpSpace& operator=(const OpSpace&) = delete;

  const OpProblem& problem() const { return problem_; }
  int atoms() const { return static_cast<int>(atoms_.size()); }
  std::size_t factors() const { return problem_.rule.factors.size(); }
  const Factor& factor(std::size_t f) const { return problem_.rule.factors[f]; }
  const std::vector<OpTensor>& operands() const { return operands_; }
  const std::vector<OpTensor>& results() const { return results_; }

  // The factor on which the axis of an atom is settled, -1 = none; nothing where it is free.
  std::optional<int> settled(int atom) const;
  // Operands are partial sums over these, so that no factor is cut by them.
  Pile carried() const { return carried_; }

  int size(int atom) const { return atoms_[static_cast<std::size_t>(atom) - 1].size; }
  std::int64_t shards(Pile pile) const;
  AxisList axes(Pile pile) const;  // major to minor, merged
  std::vector<AxisList> axes(const FactorPiles& piles) const;

  // The layout that a tensor has where the operation runs, partial sums apart; nothing where a dimension of
  // several factors cannot be cut so: a minor factor only behind whole cuts of the major ones. Under a window
  // the factors do not make up the dimension, and one of them may be cut.
  std::optional<PileState> placed(const OpTensor& tensor, const FactorPiles& piles) const;
  // As `placed`, with what every operand carries.
  std::optional<PileState> required(std::size_t operand, const FactorPiles& piles) const;
  // The result as computed: a partial sum over what it lacks.
  std::optional<PileState> natural(std::size_t result, const FactorPiles& piles) const;
  // What becomes of it: as wanted, sums that may wait left open.
  PileState kept(std::size_t result, const PileState& natural) const;

  double flops(const FactorPiles& piles) const;  // of one device
  // All-reduces on the way, of operand 0 without the factor.
  std::vector<PlanStep> statistics(const FactorPiles& piles) const;

 private:
  OpTensor tensor(const FactorMap& map, const TensorShape& shape, const AxisList& shared_along);
  FactorPiles project(const OpTensor& tensor, const PileState& state) const;
  bool windowed(const OpTensor& tensor, std::size_t dim) const;
  bool sums_over(std::size_t factor, const FactorMap& result) const;

  const OpProblem& problem_;
  const CostModel& cost_;
  std::deque<SharedMessages> shared_;
  std::vector<AxisRef> atoms_;
  std::vector<OpTensor> operands_, results_;
  Pile carried_ = 0;
};

// The axes per factor that a compiler chooses that counts elements (docs/guide/sharding.md).
FactorPiles common_piles(const OpSpace& space);

}  // namespace podsim
