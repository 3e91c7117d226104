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

  // A layout could be in the answer of whose step and memory no more is known than these bounds.
  bool could_take(Time bound, Bytes memory) const;
  // Longer steps are of no interest. REQUIRES: no front is wanted, in which any step may be.
  Time limit() const;

  // The answer, fastest first.
  std::vector<FoundLayout> taken();

 private:
  bool beat_in_both(Time bound, Bytes memory) const;
  void forget_slow();

  const std::size_t top_;
  const double within_;
  const bool pareto_;
  std::set<std::pair<Time, JobLayout>> by_step_;  // of all
  std::map<std::pair<Time, JobLayout>, FoundLayout> found_;
};

}  // namespace podsim
