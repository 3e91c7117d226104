// Launch, then phase after phase the transfer and its latency.
#include "scheduler/simulation/longest_path/link_server.h"

#include <algorithm>

#include "engine/check.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim::longest_path {

LinkServer::LinkServer(const System& system)
    : system_(system),
      links_(link_capacities(system), 1e12),  // ticks are picoseconds
      operations_(system.groups.size() * kNetworkStreams) {}

const std::vector<ClassPhase>& LinkServer::phases_of(std::int32_t slot) const {
  return system_.groups[slot / kNetworkStreams].patterns[system_.pattern_of[operations_[slot].message]];
}

void LinkServer::start(std::int32_t slot, std::int32_t message, Time now) {
  operations_[slot] = {message, 0};
  events_.emplace(now + system_.patterns[system_.pattern_of[message]].launch, slot);
}

Time LinkServer::next() {
  const Time drained{links_.next()};
  return events_.empty() ? drained : std::min(drained, events_.top().first);
}

const LinkServer::Instant& LinkServer::advance(Time now) {
  PODSIM_CHECK(now < Time::max(), "something is under way");
  instant_.began.clear();
  instant_.drained.clear();
  instant_.ended.clear();
  if (now == Time{links_.next()}) {
    links_.end(now.ps, instant_.drained);
    for (const std::int32_t slot : instant_.drained) await_arrival(slot, now);
  }
  while (!events_.empty() && events_.top().first == now) {
    const std::int32_t slot = events_.top().second;
    events_.pop();
    begin_phase(slot, now);
  }
  return instant_;
}

void LinkServer::begin_phase(std::int32_t slot, Time now) {
  const std::vector<ClassPhase>& phases = phases_of(slot);
  const std::size_t phase = operations_[slot].phase;
  if (phase == phases.size()) {
    instant_.ended.push_back(slot);
  } else if (drains(phases[phase], bytes_of(slot))) {
    links_.begin(now.ps, phases[phase].uses, work_of(phases[phase], bytes_of(slot)), slot);
    instant_.began.push_back(slot);
  } else {
    await_arrival(slot, now);
  }
}

void LinkServer::await_arrival(std::int32_t slot, Time now) {
  const ClassPhase& phase = phases_of(slot)[operations_[slot].phase++];
  events_.emplace(now + latency_of(phase, bytes_of(slot)), slot);
}

}  // namespace podsim::longest_path
