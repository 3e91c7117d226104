// Searches the space of layouts for the cheapest way from one to another.
#include "workload/resharding/reshard_search.h"

#include <algorithm>
#include <limits>

#include "engine/check.h"
#include "engine/index.h"
#include "workload/resharding/state_tree.h"

namespace podsim {
namespace {

// Shards of every dimension and number of partial sums: what a permute keeps.
using Counts = std::array<std::int64_t, kMaxDims + 1>;

Counts state_counts(const ReshardSpace& space, const PileState& state) {
  Counts counts{};
  for (std::size_t place = 0; place < counts.size(); ++place) counts[place] = space.shards(state.at[place]);
  return counts;
}

// A label of the class, taken from the pile of labels; 0 where there is none.
int take(const ReshardSpace& exact, Pile& labels, int wanted_class) {
  for (Pile rest = labels; rest != 0; rest = popped(rest)) {
    if (exact.class_of(top(rest)) != wanted_class) continue;
    const int label = top(rest);
    labels = removed(labels, label);
    return label;
  }
  return 0;
}

// The exact state beside `now` whose classes are those of `classes`: what shrinks gives its tops (or sums),
// what grows takes them, and unused atoms beyond that.
PileState follow(const ReshardSpace& exact, const PileState& now, const PileState& classes) {
  PileState next = now;
  Pile pool = 0;
  for (int d = 0; d < exact.dims(); ++d) {
    Pile& pile = next.at[at(d)];
    for (; height(pile) > height(classes.at[at(d)]); pile = popped(pile)) pool = inserted(pool, top(pile));
  }
  const PileState before = exact.relaxed(next);
  for (Pile gone = difference(before.at[kSums], classes.at[kSums]); gone != 0; gone = popped(gone)) {
    const int label = take(exact, next.at[kSums], top(gone));
    pool = inserted(pool, label);
  }
  Pile unused = 0;
  const LabelCounts left = exact.unused(now);
  for (int label = 1; label <= exact.labels(); ++label)
    if (left[at(label)] != 0) unused = inserted(unused, label);
  const auto draw = [&](int wanted_class) {
    const int label = take(exact, pool, wanted_class);
    return label != 0 ? label : take(exact, unused, wanted_class);
  };
  for (int d = 0; d < exact.dims(); ++d) {
    Pile& pile = next.at[at(d)];
    while (height(pile) < height(classes.at[at(d)]))
      pile = pushed(pile, draw(at_depth(classes.at[at(d)], height(pile))));
  }
  for (Pile more = difference(classes.at[kSums], before.at[kSums]); more != 0; more = popped(more))
    next.at[kSums] = inserted(next.at[kSums], draw(top(more)));
  return next;
}

// Where a forward and a backward tree meet by a permute.
struct Meeting {
  int before = -1, after = -1;  // nodes
  double key = std::numeric_limits<double>::infinity();
};

class CheapestPath {
 public:
  CheapestPath(const ReshardSpace& space, const PileState& from, const PileState& to, Path best,
               double give_up_at, int max_moves)
      : space_(space),
        from_(from),
        to_(to),
        best_(std::move(best)),
        order_(path_cost(space, from, best_)),
        limit_(std::min(give_up_at, order_.key(path_cost(space, from, best_)))),
        max_moves_(max_moves),
        padded_(to.at[kSums] != 0) {}

  Path find() {
    space_.timed() ? find_exact() : find_relaxed();
    return best_;
  }

 private:
  using Tree = StateTree;

  // A path with a permute brings a device all of its new block: first a block, then what it grows by.
  bool permute_may_pay() const {
    if (padded_) return true;
    const double wanted = space_.ideal_bytes(to_);
    return space_.at_least(wanted) < limit_ && with_permute_at_least(wanted) < limit_;
  }

  // A permute brings a block, and gathers what the block lacks of `wanted` bytes. By the best labels the
  // price of either is concave in bytes, and so is their sum in how the bytes are shared: it is least where
  // one of the two brings everything. A gather brings less than its result by what was there.
  double with_permute_at_least(double wanted) const {
    constexpr double kRounding = 1e-9;
    constexpr std::size_t kMostMoving = 5;
    std::vector<int> moving;
    for (int label = 1; label <= space_.labels(); ++label)
      if (!stays(label)) moving.push_back(label);
    if (!space_.timed() || moving.size() > kMostMoving) return 0;
    double launched = std::numeric_limits<double>::infinity(), permuted = launched, gathered = launched;
    for (unsigned chosen = 1; chosen >> moving.size() == 0; ++chosen) {
      Pile labels = 0;
      for (std::size_t i = 0; i < moving.size(); ++i)
        if (chosen >> i & 1) labels = inserted(labels, moving[i]);
      const auto shards = static_cast<double>(space_.shards(labels));
      launched = std::min(launched, space_.price(CollectiveKind::kPermute, labels, 0));
      permuted = std::min(permuted, space_.price(CollectiveKind::kPermute, labels, wanted));
      gathered = std::min(gathered,
                          space_.price(CollectiveKind::kAllGather, labels, wanted * shards / (shards - 1)));
    }
    return (1 - kRounding) * std::min(permuted, launched + gathered);
  }

  // At the bottom of one dimension in both layouts (reshard_moves.h).
  bool stays(int label) const {
    for (int d = 0; d < space_.dims(); ++d)
      for (Pile pile = common_prefix(from_.at[at(d)], to_.at[at(d)]); pile != 0; pile = popped(pile))
        if (top(pile) == label) return true;
    return false;
  }

  void find_exact() {
    Tree forward(space_, from_, to_, order_, Tree::Direction::kForward);
    const auto rest = [&](const PileState& state) { return space_.at_least_between(state, to_); };
    if (forward.grow(limit_, max_moves_, rest, &to_)) {
      best_ = forward.path(forward.find(to_));
      limit_ = forward.nodes()[at(forward.find(to_))].key;
    }
    if (!permute_may_pay()) return;
    Tree backward(space_, from_, to_, order_, Tree::Direction::kBackward);
    const auto first = [&](const PileState& state) {
      const double way = space_.at_least_between(from_, state);
      return padded_ ? way : std::max(way, space_.at_least(space_.ideal_bytes(state)));
    };
    backward.grow(limit_, max_moves_, first);
    const Meeting meeting = meet(space_, forward, backward);
    if (meeting.before < 0) return;
    best_ = joined(forward.path(meeting.before), backward.nodes()[at(meeting.after)].state,
                   backward.path(meeting.after));
  }

  void find_relaxed() {
    const ReshardSpace classes = space_.relaxed();
    const PileState from = space_.relaxed(from_), to = space_.relaxed(to_);
    Tree backward(classes, from, to, order_, Tree::Direction::kBackward);
    backward.grow(limit_, max_moves_,
                  [&](const PileState& state) { return classes.at_least(classes.bytes_grown(from, state)); });
    if (permute_may_pay()) {
      Tree forward(classes, from, to, order_, Tree::Direction::kForward);
      forward.grow(limit_, max_moves_,
                   [&](const PileState& state) { return classes.at_least(classes.bytes_grown(state, to)); });
      const Meeting meeting = meet(classes, forward, backward);
      if (meeting.before >= 0) {
        limit_ = meeting.key;
        best_ = realised(forward.path(meeting.before), backward, meeting.after);
      }
    }
    if (!backward.complete() || space_.at_least(space_.bytes_missing(from_, to_)) >= limit_) return;
    // Every way without a permute is one of classes too, so what those cost is a bound.
    Tree direct(space_, from_, to_, order_, Tree::Direction::kForward);
    const auto rest = [&](const PileState& state) {
      const double missing = space_.at_least(space_.bytes_missing(state, to_));
      if (missing >= limit_) return missing;
      const int node = backward.find(space_.relaxed(state));
      return node < 0 ? std::numeric_limits<double>::infinity()
                      : std::max(missing, backward.nodes()[at(node)].key);
    };
    if (direct.grow(limit_, max_moves_, rest, &to_)) best_ = direct.path(direct.find(to_));
  }

  Meeting meet(const ReshardSpace& space, const Tree& forward, const Tree& backward) const {
    std::vector<std::pair<Counts, int>> after;
    for (std::size_t i = 0; i < backward.nodes().size(); ++i)
      after.emplace_back(state_counts(space, backward.nodes()[i].state), static_cast<int>(i));
    std::sort(after.begin(), after.end());
    Meeting best{.key = limit_};
    for (std::size_t i = 0; i < forward.nodes().size(); ++i) {
      const TreeNode& node = forward.nodes()[i];
      const Counts counts = state_counts(space, node.state);
      for (auto it = std::lower_bound(after.begin(), after.end(), std::pair{counts, -1});
           it != after.end() && it->first == counts; ++it) {
        const TreeNode& other = backward.nodes()[at(it->second)];
        if (node.key + other.key >= best.key || (space.timed() && node.state == other.state)) continue;
        const PathCost permute = step_cost(space, node.state, {StepKind::kPermute, other.state});
        const double key = order_.key(node.cost + permute + other.cost);
        if (key < best.key) best = {static_cast<int>(i), it->second, key};
      }
    }
    return best;
  }

  static Path joined(Path before, const PileState& permuted, const Path& after) {
    before.push_back({StepKind::kPermute, permuted});
    before.insert(before.end(), after.begin(), after.end());
    return before;
  }

  // Classes become atoms: forwards from `from`, and backwards from `to`.
  Path realised(Path before, const Tree& backward, int meeting) const {
    PileState now = from_;
    for (PathStep& step : before) step.after = now = follow(space_, now, step.after);
    std::vector<int> way;
    for (int i = meeting; i >= 0; i = backward.nodes()[at(i)].parent) way.push_back(i);
    Path after;
    PileState then = to_;
    for (std::size_t i = way.size() - 1; i-- > 0;) {
      const TreeNode& node = backward.nodes()[at(way[i])];
      after.push_back({node.kind, then});
      then = follow(space_, then, node.state);
    }
    std::reverse(after.begin(), after.end());
    return joined(std::move(before), then, after);
  }

  const ReshardSpace& space_;
  const PileState from_, to_;
  Path best_;
  const PathOrder order_;
  double limit_;
  const int max_moves_;
  const bool padded_;
};

}  // namespace

PathCost operator+(const PathCost& a, const PathCost& b) {
  return {a.value + b.value, a.bytes + b.bytes, a.collectives + b.collectives, a.read + b.read,
          a.slices + b.slices};
}

PathOrder::PathOrder(const PathCost& scale) {
  constexpr double kCollectives = 1e-3, kBytes = 1e-6, kRead = 1e-10, kSlices = 1e-12;
  const double value = std::max(scale.value, std::numeric_limits<double>::min());
  per_byte_ = scale.bytes > 0 ? kBytes * value / scale.bytes : 0;
  per_collective_ = kCollectives * value;
  per_byte_read_ = scale.read > 0 ? kRead * value / scale.read : 0;
  per_slice_ = kSlices * value;
}

double PathOrder::key(const PathCost& cost) const {
  return cost.value + per_byte_ * cost.bytes + per_collective_ * cost.collectives +
         per_byte_read_ * cost.read + per_slice_ * cost.slices;
}

Pile taken(const ReshardSpace& space, const PileState& before, const PathStep& step) {
  if (step.kind == StepKind::kPermute) return space.moved(before, step.after);
  Pile labels = 0;
  for (Pile gone = difference(before.at[kSums], step.after.at[kSums]); gone != 0; gone = popped(gone))
    labels = inserted(labels, top(gone));
  for (int d = 0; d < space.dims(); ++d) {
    Pile pile = before.at[at(d)];
    for (int more = height(pile) - height(step.after.at[at(d)]); more > 0; --more, pile = popped(pile))
      labels = inserted(labels, top(pile));
  }
  return labels;
}

PathCost step_cost(const ReshardSpace& space, const PileState& before, const PathStep& step) {
  const auto kind = collective_of(step.kind);
  if (!kind) return {.slices = 1};
  const double read = space.bytes(before);
  // Without a fabric a permute costs one shard, whichever atoms move; classes do not tell.
  if (step.kind == StepKind::kPermute && !space.timed()) return {read, read, 1, read};
  const double bytes = step.kind == StepKind::kAllGather ? space.bytes(step.after) : read;
  const Pile labels = taken(space, before, step);
  const double value = space.price(*kind, labels, bytes);
  return {value, space.timed() ? space.sent(*kind, labels, bytes) : value, 1, read};
}

PathCost path_cost(const ReshardSpace& space, const PileState& from, const Path& path) {
  PathCost total;
  const PileState* before = &from;
  for (const PathStep& step : path) {
    total = total + step_cost(space, *before, step);
    before = &step.after;
  }
  return total;
}

Path cheapest_path(const ReshardSpace& space, const PileState& from, const PileState& to, Path best,
                   double give_up_at, int max_moves) {
  return CheapestPath(space, from, to, std::move(best), give_up_at, max_moves).find();
}

}  // namespace podsim
