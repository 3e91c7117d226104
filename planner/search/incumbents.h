// The best layouts so far, and what could still matter beside them.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "planner/space/layout.h"
#include "planner/store/main_figures.h"

namespace podsim {

struct FoundLayout {
  JobLayout layout;
  MainFigures figures;
  Bytes memory;  // of the fullest chip
};

class Incumbents {
 public:
  // So many, and all whose step is longer than the best by this share at most; or all that no other beats in
  // both step and memory.
  Incumbents(int top, double within, bool pareto)
      : top_(static_cast<std::size_t>(top < 1 ? 1 : top)), within_(within), pareto_(pareto) {}

  void add(FoundLayout found);
  bool any() const { return !found_.empty(); }
  Time best() const { return found_.begin()->first.first; }  // REQUIRES: there is any

  // Longer steps are of no interest.
  Time limit() const;
  // Some layout is no worse than these bounds in step and memory, and better in one.
  bool beat_in_both(Time bound, Bytes memory) const;

  // The answer, fastest first.
  std::vector<FoundLayout> taken();

 private:
  void forget_slow();

  const std::size_t top_;
  const double within_;
  const bool pareto_;
  std::set<std::pair<Time, JobLayout>> by_step_;  // of all
  std::map<std::pair<Time, JobLayout>, FoundLayout> found_;
};

}  // namespace podsim
