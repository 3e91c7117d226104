// Names of loops, and what is random in the adversities of a question.
#include "scheduler/simulation/state/simulate_options.h"

#include <algorithm>

#include "engine/check.h"
#include "scheduler/question/spec.h"

namespace podsim {

const std::vector<std::string>& loop_names() {
  static const std::vector<std::string> names = {"reference", "ordered", "fast"};  // [Loop]
  return names;
}

Loop loop_named(std::string_view name) {
  const auto found = std::find(loop_names().begin(), loop_names().end(), name);
  PODSIM_CHECK(found != loop_names().end(), "there is no loop of this name");
  return static_cast<Loop>(found - loop_names().begin());
}

void SimulateOptions::draw(const Adversities& adversities) {
  jitter = adversities.jitter.coefficient_of_variation;
  variation = adversities.variation;
}

}  // namespace podsim
