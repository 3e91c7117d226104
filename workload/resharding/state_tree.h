// The states that a search has reached from one end, each by its cheapest way so far.
#pragma once

#include <functional>
#include <vector>

#include "workload/resharding/reshard_moves.h"
#include "workload/resharding/reshard_search.h"

namespace podsim {

struct TreeNode {
  PileState state;
  PathCost cost;                     // from or to the root
  double key = 0;                    // of the cost
  double rest = 0;                   // at least, to the other end
  int parent = -1;                   // one step nearer to the root
  StepKind kind = StepKind::kSlice;  // of that step
};

class StateTree {
 public:
  enum class Direction : std::uint8_t { kForward, kBackward };
  // What the rest of a path costs at least, as a key.
  using Bound = std::function<double(const PileState&)>;

  StateTree(const ReshardSpace& space, const PileState& from, const PileState& to, const PathOrder& order,
            Direction direction);

  // Grows in the order of key + rest, up to below `limit`. Stops early at `goal`, if given, and tells whether
  // it got there. Gives up beyond `max_moves` moves looked at.
  bool grow(double limit, int max_moves, const Bound& rest, const PileState* goal = nullptr);

  const std::vector<TreeNode>& nodes() const { return nodes_; }  // [0] = the root
  bool complete() const { return complete_; }                    // did not give up
  int find(const PileState& state) const;                        // index of the node, -1 where there is none
  // Steps from the root to the node (forward), or from the node to the root.
  Path path(int node) const;

 private:
  // Takes the step where it is cheaper than what is known, and may be a part of a path below `limit`.
  void offer(const Move& move, const PathCost& cost, int parent, double limit, const Bound& rest);
  std::size_t slot(const PileState& state) const;
  void rehash();

  struct Entry {
    double priority;
    double key;
    int node;
  };

  const PathOrder order_;
  MoveMaker moves_;
  Direction direction_;
  std::vector<TreeNode> nodes_;
  std::vector<int> table_;  // open addressing: node + 1
  std::vector<Entry> heap_;
  std::size_t looked_at_ = 0;  // moves
  bool complete_ = true;
};

}  // namespace podsim
