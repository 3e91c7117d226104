// The one stateful stage.
#include "scheduler/simulation/simulate.h"

#include "scheduler/simulation/loop/simulation.h"
#include "scheduler/simulation/reference.h"

namespace podsim {

std::vector<Timeline> simulate(const System& system, const SimulateOptions& options) {
  if (options.loop == Loop::kReference) return simulate_by_the_rules(system, options);
  return Simulation(system, options).run();
}

}  // namespace podsim
