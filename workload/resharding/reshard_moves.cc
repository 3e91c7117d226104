// Every step that leads from a state of the space to another, or to a state from another.
#include "workload/resharding/reshard_moves.h"

#include <algorithm>

#include "engine/index.h"

namespace podsim {
namespace {

LabelCounts counts_of(Pile pile) {
  LabelCounts counts{};
  for (; pile != 0; pile = popped(pile)) ++counts[at(top(pile))];
  return counts;
}

Pile with_all(Pile sorted, Pile labels) {
  for (; labels != 0; labels = popped(labels)) sorted = inserted(sorted, top(labels));
  return sorted;
}

}  // namespace

void MoveMaker::Pool::add(int label) {
  ++counts[at(label)];
  labels = inserted(labels, label);
}

MoveMaker::MoveMaker(const ReshardSpace& space, const PileState& from, const PileState& to)
    : space_(space),
      from_(from),
      to_(to),
      most_sums_(std::max(space.shards(from.at[kSums]), space.shards(to.at[kSums]))) {
  for (int d = 0; d < space.dims(); ++d)
    most_[at(d)] = std::max({space.extent(d), space.shards(from.at[at(d)]), space.shards(to.at[at(d)])});
  for (int d = 0; d < space.dims() && space.timed(); ++d)
    staying_[at(d)] = common_prefix(from.at[at(d)], to.at[at(d)]);
}

template <class Use>
void MoveMaker::take_tops(int dim, const PileState& rest, const Pool& pool, const Use& use) {
  if (dim == space_.dims()) {
    if (pool.labels != 0) use(rest, pool);
    return;
  }
  PileState left = rest;
  Pool taken = pool;
  take_tops(dim + 1, left, taken, use);
  taken.sources |= 1u << dim;
  while (may_go(dim, left.at[at(dim)])) {
    taken.add(top(left.at[at(dim)]));
    left.at[at(dim)] = popped(left.at[at(dim)]);
    take_tops(dim + 1, left, taken, use);
  }
}

template <class Use>
void MoveMaker::take_some(int label, const LabelCounts& available, const Pool& pool, const Use& use) {
  if (label > space_.labels()) {
    if (pool.labels != 0) use(pool);
    return;
  }
  Pool taken = pool;
  take_some(label + 1, available, taken, use);
  for (int i = 0; i < available[at(label)]; ++i) {
    taken.add(label);
    take_some(label + 1, available, taken, use);
  }
}

template <class Use>
void MoveMaker::push_all(int dim, const PileState& state, const Pool& pool, const Use& use, int last) {
  if (pool.labels == 0) return use(state);
  if (dim == space_.dims()) return;
  push_all(dim + 1, state, pool, use);
  if (pool.sources >> dim & 1) return;
  for (int label = 1; label <= space_.labels(); ++label) {
    if (pool.counts[at(label)] == 0 || !may_cut(dim, state.at[at(dim)], label)) continue;
    if (!in_order(dim, state.at[at(dim)], label, last)) continue;
    PileState next = state;
    next.at[at(dim)] = pushed(next.at[at(dim)], label);
    Pool left = pool;
    --left.counts[at(label)];
    left.labels = removed(left.labels, label);
    push_all(dim, next, left, use, label);
  }
}

bool MoveMaker::may_cut(int dim, Pile pile, int label) const {
  return space_.shards(pile) * space_.size(label) <= most_[at(dim)];
}

// `last` = the label that the same step has pushed before; 0 = none.
bool MoveMaker::in_order(int dim, Pile pile, int label, int last) const {
  if (space_.labels() <= kAnyLabelOrder || label >= last) return true;
  const Pile next = pushed(pile, label);
  const int more = height(to_.at[at(dim)]) - height(next);
  return more >= 0 && to_.at[at(dim)] >> (4 * more) == next;
}

bool MoveMaker::affordable(StepKind kind, const Pool& pool, double bytes) {
  constexpr double kRounding = 1e-9;
  // To know the price by time algorithms have to be planned.
  const CollectiveKind collective = *collective_of(kind);
  if (space_.timed() && (1 - kRounding) * space_.price_at_least(collective, pool.labels, bytes) > budget_)
    return false;
  next_.kind = kind;
  next_.value = space_.price(collective, pool.labels, bytes);
  if (next_.value > budget_) return false;
  next_.sent = space_.timed() ? space_.sent(collective, pool.labels, bytes) : next_.value;
  next_.read = bytes;
  return true;
}

double MoveMaker::budget_of_exchanges(double grown) const {
  constexpr double kRounding = 1e-12;  // of products of shares
  return budget_ - (1 - kRounding) * space_.at_least(grown);
}

void MoveMaker::offer(StepKind kind, const Pool& pool, double bytes, const PileState& state) {
  if (!affordable(kind, pool, bytes)) return;
  next_.state = state;
  moves_.push_back(next_);
}

void MoveMaker::slices(const PileState& state) {
  const LabelCounts unused = space_.unused(state);
  const Pile missing = difference(to_.at[kSums], state.at[kSums]);
  next_ = {};
  for (int label = 1; label <= space_.labels(); ++label) {
    if (unused[at(label)] == 0) continue;
    for (int d = 0; d < space_.dims(); ++d) {
      if (!may_cut(d, state.at[at(d)], label)) continue;
      next_.state = state;
      next_.state.at[at(d)] = pushed(state.at[at(d)], label);
      moves_.push_back(next_);
    }
    if (counts_of(missing)[at(label)] == 0) continue;
    next_.state = state;
    next_.state.at[kSums] = inserted(state.at[kSums], label);
    moves_.push_back(next_);
  }
  for (int d = 0; d < space_.dims() && missing != 0; ++d) {  // zero padding
    const int label = top(state.at[at(d)]);
    if (!may_go(d, state.at[at(d)]) || counts_of(missing)[at(label)] == 0) continue;
    next_.state = state;
    next_.state.at[at(d)] = popped(state.at[at(d)]);
    next_.state.at[kSums] = inserted(state.at[kSums], label);
    moves_.push_back(next_);
  }
}

void MoveMaker::unslices(const PileState& state) {
  next_ = {};
  for (int d = 0; d < space_.dims(); ++d) {
    if (!may_go(d, state.at[at(d)])) continue;
    next_.state = state;
    next_.state.at[at(d)] = popped(state.at[at(d)]);
    moves_.push_back(next_);
  }
  int before = 0;
  for (Pile sums = state.at[kSums]; sums != 0; sums = popped(sums)) {
    const int label = top(sums);
    if (label == before || counts_of(to_.at[kSums])[at(label)] == 0) continue;
    before = label;
    PileState whole = state;
    whole.at[kSums] = removed(state.at[kSums], label);
    next_.state = whole;
    moves_.push_back(next_);
    for (int d = 0; d < space_.dims(); ++d) {
      if (!may_cut(d, state.at[at(d)], label)) continue;
      next_.state = whole;
      next_.state.at[at(d)] = pushed(whole.at[at(d)], label);
      moves_.push_back(next_);
    }
  }
}

const std::vector<Move>& MoveMaker::forward(const PileState& state, double budget) {
  moves_.clear();
  budget_ = budget;
  slices(state);
  const double bytes = space_.bytes(state);
  const double exchanges = budget_of_exchanges(space_.bytes_grown(state, to_));
  take_tops(0, state, {}, [&](const PileState& rest, const Pool& pool) {
    if (affordable(StepKind::kAllGather, pool, space_.bytes(rest))) {
      next_.read = bytes;
      next_.state = rest;
      moves_.push_back(next_);
    }
    if (!affordable(StepKind::kAllToAll, pool, bytes) || next_.value > exchanges) return;
    push_all(0, rest, pool, [&](const PileState& next) {
      next_.state = next;
      moves_.push_back(next_);
    });
  });
  const Pile leaving = difference(state.at[kSums], to_.at[kSums]);
  if (leaving == 0) return moves_;
  take_some(1, counts_of(leaving), {}, [&](const Pool& pool) {
    PileState rest = state;
    rest.at[kSums] = difference(state.at[kSums], pool.labels);
    offer(StepKind::kAllReduce, pool, bytes, rest);
    if (!affordable(StepKind::kReduceScatter, pool, bytes)) return;
    push_all(0, rest, pool, [&](const PileState& next) {
      next_.state = next;
      moves_.push_back(next_);
    });
  });
  return moves_;
}

const std::vector<Move>& MoveMaker::backward(const PileState& state, double budget) {
  moves_.clear();
  budget_ = budget;
  unslices(state);
  const double bytes = space_.bytes(state);
  const double ideal = space_.ideal_bytes(state);  // of whatever comes before an exchange
  const double exchanges = budget_of_exchanges(space_.bytes_grown(from_, state));
  const std::int64_t sums = space_.shards(state.at[kSums]);
  const auto may_sum = [&](const Pool& pool) { return sums * space_.shards(pool.labels) <= most_sums_; };
  take_some(1, space_.unused(state), {}, [&](const Pool& pool) {
    if (may_sum(pool)) {
      PileState partial = state;
      partial.at[kSums] = with_all(state.at[kSums], pool.labels);
      offer(StepKind::kAllReduce, pool, bytes, partial);
    }
    if (!affordable(StepKind::kAllGather, pool, bytes)) return;
    push_all(0, state, pool, [&](const PileState& before) {
      next_.read = space_.bytes(before);
      next_.state = before;
      moves_.push_back(next_);
    });
  });
  take_tops(0, state, {}, [&](const PileState& rest, const Pool& pool) {
    if (may_sum(pool)) {
      PileState partial = rest;
      partial.at[kSums] = with_all(rest.at[kSums], pool.labels);
      offer(StepKind::kReduceScatter, pool, space_.bytes(rest), partial);
    }
    if (!affordable(StepKind::kAllToAll, pool, ideal) || next_.value > exchanges) return;
    push_all(0, rest, pool, [&](const PileState& before) {
      offer(StepKind::kAllToAll, pool, space_.bytes(before), before);
    });
  });
  return moves_;
}

}  // namespace podsim
