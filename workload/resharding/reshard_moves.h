// Every step that leads from a state of the space to another, or to a state from another.
#pragma once

#include <vector>

#include "workload/resharding/reshard_space.h"

namespace podsim {

inline constexpr int kAnyLabelOrder = 4;

struct Move {
  StepKind kind = StepKind::kSlice;
  PileState state;   // the other end
  double value = 0;  // in the cost model's unit
  double sent = 0;   // bytes
  double read = 0;   // bytes of the operand
};

// All steps but permutes. A dimension is never cut into more shards than it has indices, unless `from` or
// `to` do. Labels become unreduced only as `to` has them, and are reduced only beyond those. By time, labels
// that `from` and `to` have at the bottom of one dimension stay there: to gather shards and cut the same
// again saves no bytes, and what it might save is a latency that a better algorithm over fewer chips would
// too.
class MoveMaker {
 public:
  MoveMaker(const ReshardSpace& space, const PileState& from, const PileState& to);

  // Steps out of `state` with a value of `budget` at most, for it and the bytes that all paths still lack
  // then if it exchanges some. The result lives until the next call.
  const std::vector<Move>& forward(const PileState& state, double budget);
  // Steps that end in `state`.
  const std::vector<Move>& backward(const PileState& state, double budget);

 private:
  // Labels on their way, taken from the tops of dimensions, from the partial sums or from the unused.
  struct Pool {
    LabelCounts counts{};
    Pile labels = 0;       // sorted
    unsigned sources = 0;  // bit d: some come from dimension d

    void add(int label);
  };

  // Calls use(rest, pool) for every choice of at least one label.
  template <class Use>
  void take_tops(int dim, const PileState& rest, const Pool& pool, const Use& use);
  template <class Use>
  void take_some(int label, const LabelCounts& available, const Pool& pool, const Use& use);
  // Calls use(state) for every way of pushing all of the pool onto dimensions that are no sources.
  template <class Use>
  void push_all(int dim, const PileState& state, const Pool& pool, const Use& use, int last = 0);

  void slices(const PileState& state);
  void unslices(const PileState& state);
  bool may_go(int dim, Pile pile) const {
    return pile != staying_[static_cast<std::size_t>(dim)];
  }  // its top
  bool may_cut(int dim, Pile pile, int label) const;
  bool in_order(int dim, Pile pile, int label, int last) const;
  // Appends the move where the budget allows it.
  void offer(StepKind kind, const Pool& pool, double bytes, const PileState& state);
  bool affordable(StepKind kind, const Pool& pool, double bytes);  // fills next_
  // Exchanges change neither the bytes of a device nor partial sums, and so leave to any way what `grown`
  // takes.
  double budget_of_exchanges(double grown) const;

  const ReshardSpace& space_;
  const PileState from_, to_;
  std::array<std::int64_t, kMaxDims> most_{};  // shards of each dimension
  std::int64_t most_sums_;
  std::array<Pile, kMaxDims> staying_{};  // at the bottom of each dimension
  double budget_ = 0;
  Move next_;
  std::vector<Move> moves_;
};

}  // namespace podsim
