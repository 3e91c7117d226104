// The states that a search has reached from one end, each by its cheapest way so far.
#include "workload/resharding/state_tree.h"

#include <algorithm>

namespace podsim {
namespace {

std::uint64_t hash(const PileState& state) {
  std::uint64_t h = 0;
  for (const Pile pile : state.at) h = (h ^ pile) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 29;
}

PathCost plus(const PathCost& cost, const Move& move) {
  const bool slice = move.kind == StepKind::kSlice;
  return cost + PathCost{move.value, move.sent, !slice, move.read, slice};
}

}  // namespace

StateTree::StateTree(const ReshardSpace& space, const PileState& from, const PileState& to,
                     const PathOrder& order, Direction direction)
    : order_(order), moves_(space, from, to), direction_(direction), table_(64, 0) {
  nodes_.emplace_back().state = direction == Direction::kForward ? from : to;
  table_[slot(nodes_[0].state)] = 1;
  heap_.push_back({0, 0, 0});
}

std::size_t StateTree::slot(const PileState& state) const {
  std::size_t i = hash(state) & (table_.size() - 1);
  while (table_[i] != 0 && nodes_[static_cast<std::size_t>(table_[i] - 1)].state != state)
    i = (i + 1) & (table_.size() - 1);
  return i;
}

int StateTree::find(const PileState& state) const { return table_[slot(state)] - 1; }

void StateTree::rehash() {
  table_.assign(2 * table_.size(), 0);
  for (std::size_t i = 0; i < nodes_.size(); ++i) table_[slot(nodes_[i].state)] = static_cast<int>(i) + 1;
}

void StateTree::offer(const Move& move, const PathCost& cost, int parent, double limit, const Bound& rest) {
  const double key = order_.key(cost);
  if (key >= limit) return;
  std::size_t place = slot(move.state);
  if (table_[place] == 0) {
    const double more = rest(move.state);
    if (key + more >= limit) return;
    if (2 * (nodes_.size() + 1) > table_.size()) {
      rehash();
      place = slot(move.state);
    }
    nodes_.push_back({.state = move.state, .cost = {}, .rest = more});
    table_[place] = static_cast<int>(nodes_.size());
  } else if (nodes_[static_cast<std::size_t>(table_[place] - 1)].key <= key) {
    return;
  }
  const int index = table_[place] - 1;
  TreeNode& node = nodes_[static_cast<std::size_t>(index)];
  node.cost = cost;
  node.key = key;
  node.parent = parent;
  node.kind = move.kind;
  heap_.push_back({key + node.rest, key, index});
  // Equal priorities: the state reached first.
  std::push_heap(heap_.begin(), heap_.end(), [](const Entry& a, const Entry& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.node > b.node;
  });
}

bool StateTree::grow(double limit, int max_moves, const Bound& rest, const PileState* goal) {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), [](const Entry& a, const Entry& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.node > b.node;
    });
    const Entry entry = heap_.back();
    heap_.pop_back();
    const TreeNode node = nodes_[static_cast<std::size_t>(entry.node)];
    if (entry.key != node.key) continue;  // reached more cheaply since
    if (goal && node.state == *goal) return true;
    if (looked_at_ > static_cast<std::size_t>(max_moves)) {
      complete_ = false;
      return false;
    }
    const double budget = limit - node.key;
    const std::vector<Move>& moves = direction_ == Direction::kForward ? moves_.forward(node.state, budget)
                                                                       : moves_.backward(node.state, budget);
    looked_at_ += moves.size();
    for (const Move& move : moves) offer(move, plus(node.cost, move), entry.node, limit, rest);
  }
  return false;
}

Path StateTree::path(int node) const {
  Path path;
  const auto at = [&](int i) -> const TreeNode& { return nodes_[static_cast<std::size_t>(i)]; };
  if (direction_ == Direction::kForward) {
    for (int i = node; at(i).parent >= 0; i = at(i).parent) path.push_back({at(i).kind, at(i).state});
    std::reverse(path.begin(), path.end());
  } else {
    for (int i = node; at(i).parent >= 0; i = at(i).parent)
      path.push_back({at(i).kind, at(at(i).parent).state});
  }
  return path;
}

}  // namespace podsim
