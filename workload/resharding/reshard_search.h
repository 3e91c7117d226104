// Searches the space of layouts for the cheapest way from one to another.
#pragma once

#include <vector>

#include "workload/resharding/reshard_space.h"

namespace podsim {

// A step and the exact state after it.
struct PathStep {
  StepKind kind = StepKind::kSlice;
  PileState after;
};
using Path = std::vector<PathStep>;

// What a path costs. `key` orders paths: value, then collectives, then bytes, then what they read, then
// slices, folded into one number with weights far above rounding. A collective more must gain a thousandth:
// no time is predicted better, and a step waits for each. The other weights lie far below differences of
// values.
struct PathCost {
  double value = 0, bytes = 0;
  int collectives = 0;
  double read = 0;  // bytes of all operands
  int slices = 0;
};

PathCost operator+(const PathCost& a, const PathCost& b);

class PathOrder {
 public:
  // `scale` = the cost of a path to beat.
  explicit PathOrder(const PathCost& scale);
  double key(const PathCost& cost) const;

 private:
  double per_byte_, per_collective_, per_byte_read_, per_slice_;
};

// Labels that a collective takes from dimensions or partial sums; of a permute those that it moves.
Pile taken(const ReshardSpace& space, const PileState& before, const PathStep& step);
PathCost path_cost(const ReshardSpace& space, const PileState& from, const Path& path);
PathCost step_cost(const ReshardSpace& space, const PileState& before, const PathStep& step);

// A good path without a search: slices onto free places, reductions, all-to-alls of what can go straight
// home, one gather of the rest; or slices, one permute and a gather where that is cheaper. Never worse than
// gathering all that differs and slicing again.
Path greedy_path(const ReshardSpace& space, const PileState& from, const PileState& to);

// The cheapest path with one permute at most, or `best` where there is none better, or none below a value of
// `give_up_at`. Gives up, with the best so far, beyond `max_moves` moves looked at in one direction.
Path cheapest_path(const ReshardSpace& space, const PileState& from, const PileState& to, Path best,
                   double give_up_at, int max_moves);

}  // namespace podsim
