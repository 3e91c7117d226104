// A good way from one layout to another without a search.
#include <algorithm>
#include <numeric>
#include <optional>

#include "engine/index.h"
#include "workload/resharding/reshard_search.h"

namespace podsim {
namespace {

// The label of `to` that comes next on the dimension; 0 where the dimension is complete or holds others.
int wanted(Pile now, Pile to) { return is_prefix(now, to) && now != to ? at_depth(to, height(now)) : 0; }

bool holds_label(Pile labels, int label) {
  for (; labels != 0; labels = popped(labels))
    if (top(labels) == label) return true;
  return false;
}

class Greedy {
 public:
  Greedy(const ReshardSpace& space, const PileState& from, const PileState& to)
      : space_(space), to_(to), now_(from) {}

  Path straight() {
    slice_home();
    reduce();
    do slice_home();
    while (exchange());
    pad();
    gather();
    slice_home();
    enter_sums();
    return path_;
  }

  std::optional<Path> permuted() {
    slice_home();
    reduce();
    pad();
    if (!slice_to_multiples() || space_.shards(now_.at[kSums]) != space_.shards(to_.at[kSums])) return {};
    PileState next = to_;
    if (!add_extras(next)) return {};
    if (next != now_) step(StepKind::kPermute, next);
    gather();
    return path_;
  }

 private:
  void step(StepKind kind, const PileState& next) {
    now_ = next;
    path_.push_back({kind, next});
  }

  void slice(int place, int label) {
    PileState next = now_;
    Pile& pile = next.at[at(place)];
    pile = place == kSums ? inserted(pile, label) : pushed(pile, label);
    step(StepKind::kSlice, next);
  }

  void slice_home() {
    for (int d = 0; d < space_.dims(); ++d) {
      for (;;) {
        const int label = wanted(now_.at[at(d)], to_.at[at(d)]);
        if (label == 0 || space_.unused(now_)[at(label)] == 0) break;
        slice(d, label);
      }
    }
  }

  void reduce() {
    PileState next = now_;
    Pile leaving = difference(now_.at[kSums], to_.at[kSums]);
    for (int d = 0; d < space_.dims(); ++d) {
      for (;;) {
        const int label = wanted(next.at[at(d)], to_.at[at(d)]);
        if (label == 0 || !holds_label(leaving, label)) break;
        next.at[at(d)] = pushed(next.at[at(d)], label);
        next.at[kSums] = removed(next.at[kSums], label);
        leaving = removed(leaving, label);
      }
    }
    if (next != now_) step(StepKind::kReduceScatter, next);
    if (leaving == 0) return;
    next.at[kSums] = difference(next.at[kSums], leaving);
    step(StepKind::kAllReduce, next);
  }

  // One all-to-all of all that can go home at once; false where there is nothing.
  bool exchange() {
    // Starts with everything that lies in a wrong place, and leaves out what would be left over.
    std::array<int, kMaxDims> taken{};
    for (int d = 0; d < space_.dims(); ++d)
      taken[at(d)] = height(now_.at[at(d)]) - height(common_prefix(now_.at[at(d)], to_.at[at(d)]));
    for (;;) {
      PileState next = now_;
      Pile pool = 0;
      for (int d = 0; d < space_.dims(); ++d)
        for (int i = 0; i < taken[at(d)]; ++i, next.at[at(d)] = popped(next.at[at(d)]))
          pool = inserted(pool, top(next.at[at(d)]));
      for (int d = 0; d < space_.dims(); ++d) {
        if (taken[at(d)] > 0) continue;
        for (;;) {
          const int label = wanted(next.at[at(d)], to_.at[at(d)]);
          if (label == 0 || !holds_label(pool, label)) break;
          next.at[at(d)] = pushed(next.at[at(d)], label);
          pool = removed(pool, label);
        }
      }
      if (next == now_) return false;
      if (pool == 0) {
        step(StepKind::kAllToAll, next);
        return true;
      }
      for (int d = 0; d < space_.dims(); ++d) {
        Pile pile = now_.at[at(d)];
        for (int i = 1; i <= taken[at(d)]; ++i, pile = popped(pile))
          if (holds_label(pool, top(pile))) taken[at(d)] = i - 1;
      }
    }
  }

  // Trailing labels that are to be unreduced become so by zero padding.
  void pad() {
    for (int d = 0; d < space_.dims(); ++d) {
      while (!is_prefix(now_.at[at(d)], to_.at[at(d)])) {
        const int label = top(now_.at[at(d)]);
        if (!holds_label(difference(to_.at[kSums], now_.at[kSums]), label)) break;
        PileState next = now_;
        next.at[at(d)] = popped(next.at[at(d)]);
        next.at[kSums] = inserted(next.at[kSums], label);
        step(StepKind::kSlice, next);
      }
    }
    enter_sums();
  }

  void enter_sums() {
    for (Pile missing = difference(to_.at[kSums], now_.at[kSums]); missing != 0; missing = popped(missing))
      if (space_.unused(now_)[at(top(missing))] != 0) slice(kSums, top(missing));
  }

  void gather() {
    PileState next = now_;
    for (int d = 0; d < space_.dims(); ++d) next.at[at(d)] = common_prefix(now_.at[at(d)], to_.at[at(d)]);
    if (next != now_) step(StepKind::kAllGather, next);
  }

  // Slices until the shards of every dimension are a multiple of those wanted; false where nothing fits.
  bool slice_to_multiples() {
    for (int d = 0; d < space_.dims(); ++d) {
      const std::int64_t goal = space_.shards(to_.at[at(d)]);
      for (;;) {
        const std::int64_t now = space_.shards(now_.at[at(d)]);
        const std::int64_t factor = goal / std::gcd(now, goal);
        if (factor == 1) break;
        const int label = unused_divisor(now_, factor, 0);
        if (label == 0) return false;
        slice(d, label);
      }
    }
    return true;
  }

  // Fills the dimensions of `next` up to the shards that they have now.
  bool add_extras(PileState& next) const {
    for (int d = 0; d < space_.dims(); ++d) {
      for (;;) {
        const std::int64_t factor = space_.shards(now_.at[at(d)]) / space_.shards(next.at[at(d)]);
        if (factor == 1) break;
        const int label = unused_divisor(next, factor, now_.at[at(d)]);
        if (label == 0) return false;
        next.at[at(d)] = pushed(next.at[at(d)], label);
      }
    }
    return true;
  }

  // An unused label whose size divides `factor`, one of `rather` if there is any.
  int unused_divisor(const PileState& state, std::int64_t factor, Pile rather) const {
    const LabelCounts unused = space_.unused(state);
    int found = 0;
    for (int label = 1; label <= space_.labels(); ++label) {
      if (unused[at(label)] == 0 || factor % space_.size(label) != 0) continue;
      if (found == 0 || (holds_label(rather, label) && !holds_label(rather, found))) found = label;
    }
    return found;
  }

  const ReshardSpace& space_;
  const PileState to_;
  PileState now_;
  Path path_;
};

}  // namespace

Path greedy_path(const ReshardSpace& space, const PileState& from, const PileState& to) {
  Path best = Greedy(space, from, to).straight();
  const PathCost cost = path_cost(space, from, best);
  if (cost.collectives == 0) return best;
  const std::optional<Path> permuted = Greedy(space, from, to).permuted();
  if (!permuted) return best;
  const PathOrder order(cost);
  return order.key(path_cost(space, from, *permuted)) < order.key(cost) ? *permuted : best;
}

}  // namespace podsim
