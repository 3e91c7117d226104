// What chips, groups and links are told apart by, beside what is sent.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/folding/drawn_degradations.h"

namespace podsim {

struct FoldRequest {
  std::vector<int> program_of;     // [chip] index into the stages of the step, -1 for a chip without work
  std::vector<double> speed_of;    // [chip] of what lasts, 1 for a chip as it should be
  DrawnDegradations degradations;  // what changes with time
  std::vector<std::int32_t>
      told_apart;    // [chip] of different numbers are in different classes; empty = none is
  bool fold = true;  // else every chip, group and link is a class of its own
};

}  // namespace podsim
