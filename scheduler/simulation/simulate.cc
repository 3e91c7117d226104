// The one stateful stage.
#include "scheduler/simulation/simulate.h"

#include "scheduler/simulation/loop/simulation.h"

namespace podsim {

std::vector<Timeline> simulate(const System& system, const SimulateOptions& options) {
  return Simulation(system, options).run();
}

}  // namespace podsim
