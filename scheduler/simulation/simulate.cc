// The one stateful stage.
#include "scheduler/simulation/simulate.h"

#include <optional>
#include <utility>

#include "scheduler/simulation/logical_processes/logical_process_loop.h"
#include "scheduler/simulation/longest_path/longest_path_loop.h"
#include "scheduler/simulation/loop/ordered_loop.h"
#include "scheduler/simulation/loop/system_tables.h"
#include "scheduler/simulation/reference.h"

namespace podsim {

Simulator::Simulator(const System& system) : system_(system) {}
Simulator::~Simulator() = default;

std::vector<Timeline> Simulator::run(const SimulateOptions& options) {
  try {
    return run_loop(options);
  } catch (...) {       // EventBudgetSpent, StepTooLong
    programs_.reset();  // amid a step
    tables_.reset();
    throw;
  }
}

std::vector<Timeline> Simulator::run_loop(const SimulateOptions& options) {
  if (options.loop == Loop::kReference) return simulate_by_the_rules(system_, options);
  if (!tables_) tables_ = std::make_unique<SystemTables>(system_);
  if (options.may_use_processes(system_)) {
    LogicalProcesses processes = find_logical_processes(system_, tables_->lists);
    if (processes.any()) return LogicalProcessLoop(*tables_, options, std::move(processes)).run();
  }
  if (!ends_with_launches_ && LongestPathLoop::knows(*tables_, options)) {
    if (!programs_) programs_ = std::make_unique<PathPrograms>(*tables_);
    if (std::optional<std::vector<Timeline>> found = LongestPathLoop(*tables_, *programs_, options).run())
      return *std::move(found);
    ends_with_launches_ = true;
  }
  return OrderedLoop(*tables_, options).run();
}

std::vector<Timeline> simulate(const System& system, const SimulateOptions& options) {
  return Simulator(system).run(options);
}

}  // namespace podsim
