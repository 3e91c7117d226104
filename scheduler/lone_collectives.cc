// Runs each message of a group once on links of its own.
#include "scheduler/lone_collectives.h"

#include <algorithm>
#include <utility>

#include "engine/rounding.h"

namespace podsim {

LoneCollectives::LoneCollectives(const System& system, const Fluid& fluid)
    : system_(system),
      fluid_(fluid),
      index_(system),
      id_(index_.size(), kUnknown),
      links_of_(system.groups.size() * system.patterns.size()) {}

std::int32_t LoneCollectives::find(std::int32_t group, std::int32_t message) {
  std::int32_t& id = id_[index_(group, message)];
  if (id == kUnknown) id = run(group, message);
  return id;
}

std::int32_t LoneCollectives::run(std::int32_t group, std::int32_t message) {
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

std::span<const std::int32_t> LoneCollectives::links(std::int32_t group, std::int32_t message) {
  if (system_.step.messages[message].bytes.value == 0) return {};
  const std::int32_t pattern = system_.pattern_of[message];
  Links& links = links_of_[group * system_.patterns.size() + pattern];
  if (links.count == kUnknown) links = list_links(system_.groups[group].patterns[pattern]);
  return {links_.data() + links.first, static_cast<std::size_t>(links.count)};
}

LoneCollectives::Links LoneCollectives::list_links(const std::vector<ClassPhase>& phases) {
  std::vector<std::int32_t> links;
  for (const ClassPhase& phase : phases)
    if (phase.work_per_byte > 0)
      for (const Use& use : phase.uses) links.push_back(use.resource);
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  const Links listed{static_cast<std::int32_t>(links_.size()), static_cast<std::int32_t>(links.size())};
  links_.insert(links_.end(), links.begin(), links.end());
  return listed;
}

}  // namespace podsim
