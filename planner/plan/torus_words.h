// Slices of a torus in the words of a plan: how many, and of what lengths.
#pragma once

#include <string>
#include <vector>

#include "planner/plan/plan.h"

namespace podsim {

// As a choice says them; 0 and empty = it does not.
struct TorusWords {
  int slices = 0;
  std::vector<int> shape = {};

  std::string name() const;                               // " in 2 slices of 4x4", or empty
  std::string lengths(const std::string& between) const;  // of the shape
};

// Those of a scenario's slices and shapes that make so many chips; where no shape does, the first, so that
// the refusal says why. Never empty.
std::vector<TorusWords> tori_of(const PlanScenario& scenario, int count);

}  // namespace podsim
