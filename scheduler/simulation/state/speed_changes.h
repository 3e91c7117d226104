// Speeds of chips and links that change while the simulation runs.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/folding/system.h"

namespace podsim {

// Where no adversity has a season it never changes and costs nothing.
class SpeedChanges {
 public:
  // Starts before time 0, where all factors are 1. REQUIRES: `system` outlives this object.
  SpeedChanges(const System& system, std::uint64_t seed);

  // The next edge; Time::max() without any.
  Time next() const { return next_; }

  // Goes over the edge at next(): tells chip(class, factor) and link(class, factor) of all whose factor is
  // another from now on. Edges of chips and links never come twice at one instant.
  template <class Chip, class Link>
  void pass(Chip&& chip, Link&& link) {
    for (std::size_t p = 0; p < things_.size(); ++p) {
      if (!turn(p)) continue;
      for (const std::int32_t c : things_[p].chips) chip(c, things_[p].factor);
      for (const std::int32_t l : things_[p].links) link(l, things_[p].factor);
    }
    find_next();
  }

 private:
  struct Things {  // of one profile
    std::vector<std::int32_t> chips, links;
    double factor = 1;
    Time next;
  };

  bool turn(std::size_t profile);  // false when its factor stays
  void find_next();

  const System& system_;
  const std::uint64_t seed_;
  std::vector<Things> things_;  // [profile]
  Time next_ = Time::max();
};

}  // namespace podsim
