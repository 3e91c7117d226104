// The one stateful stage.
#include "scheduler/simulation/simulate.h"

#include <optional>
#include <utility>

#include "scheduler/simulation/logical_processes/logical_process_loop.h"
#include "scheduler/simulation/longest_path/longest_path.h"
#include "scheduler/simulation/loop/ordered_loop.h"
#include "scheduler/simulation/reference.h"

namespace podsim {

std::vector<Timeline> simulate(const System& system, const SimulateOptions& options) {
  if (options.loop == Loop::kReference) return simulate_by_the_rules(system, options);
  if (options.loop == Loop::kPath)
    if (std::optional<std::vector<Timeline>> path = simulate_longest_path(system, options))
      return *std::move(path);
  if (options.may_use_processes(system)) {
    LogicalProcesses processes = find_logical_processes(system, StreamOperations(system));
    if (processes.any()) return LogicalProcessLoop(system, options, std::move(processes)).run();
  }
  return OrderedLoop(system, options).run();
}

}  // namespace podsim
