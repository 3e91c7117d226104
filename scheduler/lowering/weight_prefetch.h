// What a stage fetches ahead of its use: gathered weights from other chips, and copies from its host.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/lowering/lower_part.h"

namespace podsim {

struct Stack;

// Fetches of a visit are put on their stream, in order of use, when the visit `depth` before it begins, or
// when the step begins where there is none. Gathers have the stack's depth, 0 = at their use; copies from the
// host have 1. What a backward pass copies from the host is not fetched before the forward pass of the same
// microbatch and piece, which sent it there, has ended. Visits in turns fetch for themselves when they begin.
class WeightPrefetch {
 public:
  // Visits of a whole step. REQUIRES: `parts` and `stack` outlive this object.
  WeightPrefetch(PartLowering& parts, const PassBlocks& blocks, const Stack& stack,
                 std::vector<Visit> visits);

  const Visit& visit(int v) const { return visits_[static_cast<std::size_t>(v)]; }

  // Launches what is due before the first visit.
  void begin_step();

  // Launches what is due when visit v begins.
  Ahead begin_visit(int v);

  // Equal for two runs of `count` visits to the same pieces when the same is launched in both.
  std::vector<std::int32_t> shape(int first, int count) const;

 private:
  // [v] of how many visits the fetches have been launched before visit v begins; none where no visit fetches.
  using Launched = std::vector<int>;

  static int by(const Launched& launched, int v) {
    return launched.empty() ? 0 : launched[static_cast<std::size_t>(v)];
  }
  std::vector<int> behind_forward_visits() const;
  Launched launched(int forward_depth, int backward_depth, const std::vector<int>& not_before) const;

  PartLowering& parts_;
  const Stack& stack_;
  std::vector<Visit> visits_;
  Launched gathers_, copies_;
};

}  // namespace podsim
