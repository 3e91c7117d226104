// Collectives that the chips of a tensor group run one after another, kept once for all of them.
#pragma once

#include <array>
#include <cstdint>

#include "engine/check.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"
#include "scheduler/simulation/state/computation_progress.h"

namespace podsim {

// Collectives that all chips of a group run one after another: what they have in common is kept once.
class CommonCollectives {
 public:
  static constexpr std::uint32_t kMost =
      LpAdvance::kMostEndings;  // under way, or to come, for any of the chips

  // How far a chip has got.
  struct Progress {
    std::uint32_t first = 0;   // that is not over
    std::uint32_t passed = 0;  // edges of it
  };

  void clear() { count_ = edges_ = 0; }
  // So many have been added.
  std::uint32_t count() const { return count_; }
  // REQUIRES: it is one of the last kMost.
  const CollectiveAhead& operator[](std::uint32_t i) const { return ahead_[i % kMost]; }

  // Edges of all of them.
  std::uint32_t edges() const { return edges_; }

  // False, and nothing done, unless it begins after the last one is over. REQUIRES: there are edges.
  bool add(const KnownCollective& next) {
    PODSIM_CHECK(!next.edges.empty(), "what has no transfers slows nobody down");
    if (count_ > 0 && next.start + next.edges.front().after <= (*this)[count_ - 1].last) return false;
    ahead_[count_++ % kMost].begin(next);
    edges_ += static_cast<std::uint32_t>(next.edges.size());
    return true;
  }

  // Takes the chip past those that are over by now. REQUIRES: all but the last kMost are, as no queue has
  // more unfinished.
  void go_to(Progress& chip, Time now) const {
    if (count_ - chip.first > kMost) chip = {count_ - kMost, 0};
    while (chip.first < count_ && (*this)[chip.first].last <= now) chip = {chip.first + 1, 0};
  }

 private:
  std::uint32_t count_ = 0, edges_ = 0;
  std::array<CollectiveAhead, kMost> ahead_;
};

}  // namespace podsim
