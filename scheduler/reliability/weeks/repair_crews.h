// Crews that repair one thing after the other each.
#pragma once

#include <algorithm>
#include <vector>

#include "scheduler/reliability/weeks/milliseconds.h"

namespace podsim {

class RepairCrews {
 public:
  explicit RepairCrews(int crews) : free_(static_cast<std::size_t>(crews)) {}  // 0 = one for each repair

  // When the repair begins that comes now: first come, first served.
  Milliseconds begin(Milliseconds now, Milliseconds repair) {
    if (free_.empty()) return now;
    const auto crew = std::min_element(free_.begin(), free_.end());
    const Milliseconds begin = std::max(now, *crew);
    *crew = begin + repair;
    return begin;
  }

 private:
  std::vector<Milliseconds> free_;  // [crew], when
};

}  // namespace podsim
