// Runs each message of a group once on links of its own.
#include "scheduler/simulation/state/uncontended_collectives.h"

#include <algorithm>
#include <utility>

#include "engine/rounding.h"

namespace podsim {

UncontendedCollectives::UncontendedCollectives(const System& system, const Fluid& fluid)
    : system_(system), fluid_(fluid), index_(system), runs_(index_.size()) {}

UncontendedCollectives::Run UncontendedCollectives::find_out(std::int32_t group, std::int32_t message) {
  Run run;
  run.collective = play(group, message);
  if (system_.step.messages[message].bytes.value > 0) list_links(group, message, run);
  return run;
}

std::int32_t UncontendedCollectives::play(std::int32_t group, std::int32_t message) {
  const std::int32_t pattern = system_.pattern_of[message];
  const Bytes bytes = system_.step.messages[message].bytes;
  const std::int32_t member = system_.groups[group].members.front();  // all are of one job
  const double slowdown = 1 + system_.step.stages[system_.chips[member].program].interference;
  bool ends = true;
  std::vector<TransferEdge> edges;
  Time at = system_.patterns[pattern].launch;
  for (const ClassPhase& phase : system_.groups[group].patterns[pattern]) {
    if (drains(phase, bytes)) {
      for (const Use& use : phase.uses)
        if (system_.links[use.resource].profile >= 0) ends = false;
      const Tick time = fluid_.time_alone(phase.uses, work_of(phase, bytes));
      if (time == kNever) {
        ends = false;
        break;
      }
      const Time done = edges.empty() ? Time{} : edges.back().done + (at - edges.back().after);
      edges.push_back({at, done});
      at += {time};
      edges.push_back({at, done + nearest(static_cast<double>(time) / slowdown)});
    }
    at += latency_of(phase, bytes);
  }
  const auto [known, is_new] =
      id_of_.emplace(std::tuple(std::move(edges), at, ends), static_cast<std::int32_t>(known_.size()));
  if (is_new) known_.push_back({std::get<0>(known->first), at, ends});
  return known->second;
}

void UncontendedCollectives::list_links(std::int32_t group, std::int32_t message, Run& run) {
  std::vector<std::int32_t> links;
  for (const ClassPhase& phase : system_.groups[group].patterns[system_.pattern_of[message]])
    if (phase.work_per_byte > 0)
      for (const Use& use : phase.uses) links.push_back(use.resource);
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  run.first_link = static_cast<std::int32_t>(links_.size());
  run.links = static_cast<std::int32_t>(links.size());
  links_.insert(links_.end(), links.begin(), links.end());
}

}  // namespace podsim
