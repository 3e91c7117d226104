// Layouts that a search has not done with, alone or together, by the bound that is known of them.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "engine/units.h"
#include "planner/space/layout.h"

namespace podsim {

// How closely it has been looked at.
enum class Level : unsigned char { kLighter, kPasses, kStages, kRelaxed };

struct BoundedStem {
  JobLayout stem;
  Time bound;
  Bytes memory;  // of weights, gradients and optimizer state
};

struct OpenLayouts {
  Time bound;
  Level level;
  JobLayout layout;  // of passes a stem, that stands for all of its layouts; of lighter ones a timed layout
  Time lighter_bound, pass_bound, stage_bound;
  Bytes memory;
  std::shared_ptr<const std::vector<BoundedStem>> stems = {};  // of lighter ones those that it times
  bool put_off = false;  // it took too many events, and is simulated to its end when it comes again
  friend bool operator<(const OpenLayouts& a, const OpenLayouts& b) {
    return std::tie(a.bound, a.level, a.layout) < std::tie(b.bound, b.level, b.layout);
  }
};

}  // namespace podsim
