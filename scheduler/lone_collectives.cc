// Runs each message of a group once on links of its own.
#include "scheduler/lone_collectives.h"

#include <algorithm>
#include <utility>

namespace podsim {

std::int32_t LoneCollectives::find(std::int32_t group, std::int32_t message) {
  std::int32_t& id = id_[index_(group, message)];
  if (id == kUnknown) {
    id = static_cast<std::int32_t>(known_.size());
    known_.push_back(run(group, message));
  }
  return id;
}

LoneCollective LoneCollectives::run(std::int32_t group, std::int32_t message) {
  const std::int32_t pattern = system_.pattern_of[message];
  const Bytes bytes = system_.step.messages[message].bytes;
  LoneCollective result;
  result.ends = true;
  std::vector<Time> instants;
  std::vector<std::int32_t> links;
  Time at = system_.patterns[pattern].launch;
  for (const ClassPhase& phase : system_.groups[group].patterns[pattern]) {
    if (drains(phase, bytes)) {
      for (const Use& use : phase.uses) {
        links.push_back(use.resource);
        if (system_.links[use.resource].profile >= 0) result.ends = false;
      }
      const Tick time = fluid_.time_alone(phase.uses, work_of(phase, bytes));
      if (time == kNever) {
        result.ends = false;
        break;
      }
      instants.push_back(at);
      at += {time};
      instants.push_back(at);
    }
    at += latency_of(phase, bytes);
  }
  result.arrival = at;
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  result.first_link = static_cast<std::int32_t>(links_.size());
  result.links = static_cast<std::int32_t>(links.size());
  links_.insert(links_.end(), links.begin(), links.end());
  result.instants = *instants_.insert(std::move(instants)).first;
  return result;
}

}  // namespace podsim
