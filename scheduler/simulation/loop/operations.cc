// Runs operations alone while they are, and among others from then on.
#include "scheduler/simulation/loop/operations.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr double kTicksPerSecond = 1e12;  // a tick is a picosecond

}  // namespace

Operations::Operations(const System& system, bool alone, std::size_t first_slot,
                       std::vector<Rendezvous>& all_rendezvous, IndexedEventQueue& event_queue,
                       LpMailboxes& chips)
    : system_(system),
      alone_(alone),
      first_slot_(first_slot),
      all_rendezvous_(all_rendezvous),
      event_queue_(event_queue),
      chips_(chips),
      links_(link_capacities(system), kTicksPerSecond),
      uncontended_(system, links_),
      holders_(system.links.size()) {}

void Operations::start(std::int32_t m, Time now) {
  Rendezvous& rendezvous = all_rendezvous_[m];
  PODSIM_CHECK(!rendezvous.running, "a stream runs one operation at a time");
  rendezvous.uncontended = find(rendezvous);
  if (would_be_alone(rendezvous)) {
    start_alone(m, now);
    const KnownCollective known{now, uncontended_[rendezvous.uncontended].edges,
                                system_.pattern_of[rendezvous.message], m};
    for (const std::int32_t c : rendezvous.members) chips_.start_known(c, known, now);
    return;
  }
  const std::span<const std::int32_t> links = links_of(rendezvous);
  for (std::int32_t other; (other = holders_.lone_holder(links)) >= 0;) join(other, now);
  holders_.share(links);
  rendezvous.running = true;
  rendezvous.alone = false;
  rendezvous.started = now;
  rendezvous.phase = 0;
  event_queue_.set(first_slot_ + m, now + launch_of(rendezvous));
}

void Operations::start_alone(std::int32_t m, Time now) {
  Rendezvous& rendezvous = all_rendezvous_[m];
  rendezvous.running = true;
  rendezvous.alone = true;
  rendezvous.started = now;
  rendezvous.uncontended = find(rendezvous);
  rendezvous.phase = 0;
  holders_.hold_alone(m, links_of(rendezvous));
  event_queue_.set(first_slot_ + m, now + uncontended_[rendezvous.uncontended].arrival);
}

// Another operation is to share links of this one, which was alone: it goes on from where it is.
void Operations::join(std::int32_t m, Time now) {
  Rendezvous& rendezvous = all_rendezvous_[m];
  const UncontendedCollective& collective = uncontended_[rendezvous.uncontended];
  rendezvous.alone = false;
  const std::span<const std::int32_t> links = links_of(rendezvous);
  holders_.leave_alone(links);
  holders_.share(links);
  const std::vector<ClassPhase>& phases = phases_of(rendezvous);
  const TransferEdge* edge = collective.edges.data();
  bool draining = false;
  Time arrived = rendezvous.started + launch_of(rendezvous);
  for (rendezvous.phase = 0; arrived < now; ++rendezvous.phase) {
    const ClassPhase& phase = phases[rendezvous.phase];
    if (drains(phase, bytes_of(rendezvous))) {
      const Time begin = rendezvous.started + (edge++)->after;
      arrived = rendezvous.started + (edge++)->after;
      draining = now < arrived;
      if (draining) {
        links_.begin_alone(begin.ps, now.ps, phase.uses, work_of(phase, bytes_of(rendezvous)), m);
        event_queue_.clear(first_slot_ + m);
        break;
      }
    }
    arrived += latency_of(phase, bytes_of(rendezvous));
  }
  if (!draining) event_queue_.set(first_slot_ + m, arrived);
  for (const std::int32_t c : rendezvous.members) chips_.forget_known(c, m, draining, now);
}

bool Operations::advance(std::int32_t m, Time now) {
  Rendezvous& rendezvous = all_rendezvous_[m];
  if (rendezvous.alone || rendezvous.phase == phases_of(rendezvous).size()) {
    const std::span<const std::int32_t> links = links_of(rendezvous);
    rendezvous.alone ? holders_.leave_alone(links) : holders_.leave_shared(links);
    rendezvous.running = false;
    return true;
  }
  const std::vector<ClassPhase>& phases = phases_of(rendezvous);
  const ClassPhase& phase = phases[rendezvous.phase];
  if (drains(phase, bytes_of(rendezvous))) {
    links_.begin(now.ps, phase.uses, work_of(phase, bytes_of(rendezvous)), m);
    change_transfers(rendezvous, +1, now);
  } else {
    await_arrival(m, now);
  }
  return false;
}

std::size_t Operations::drain(Time now) {
  drained_.clear();
  links_.end(now.ps, drained_);
  for (const std::int32_t m : drained_) {
    change_transfers(all_rendezvous_[m], -1, now);
    await_arrival(m, now);
  }
  return drained_.size();
}

// The last byte of the phase has left the links.
void Operations::await_arrival(std::int32_t m, Time now) {
  Rendezvous& rendezvous = all_rendezvous_[m];
  const ClassPhase& phase = phases_of(rendezvous)[rendezvous.phase++];
  const Time arrival = now + latency_of(phase, bytes_of(rendezvous));
  event_queue_.set(first_slot_ + m, arrival);
  chips_.await(m, rendezvous.members.front(), arrival);
}

void Operations::change_speed(std::int32_t link, double factor, Time now) {
  if (system_.links[link].flap >= 0 && factor > 0) note_standstill(link, now);
  links_.set_capacity(now.ps, link, system_.links[link].bandwidth.value * factor);
}

// A link is about to come up.
void Operations::note_standstill(std::int32_t link, Time now) {
  for (const std::int32_t m : links_.stalled()) {
    const Rendezvous& rendezvous = all_rendezvous_[m];
    const std::vector<Use>& uses = phases_of(rendezvous)[rendezvous.phase].uses;
    if (std::none_of(uses.begin(), uses.end(), [&](const Use& use) { return use.resource == link; }))
      continue;
    const Standstill found{system_.links[link].flap, {links_.stalled_since(m)}, now};
    const auto known = std::find_if(standstills_.begin(), standstills_.end(),
                                    [&](const Standstill& other) { return other.entry == found.entry; });
    if (known == standstills_.end()) {
      standstills_.push_back(found);
    } else if (found.end - found.begin > known->end - known->begin) {
      *known = found;
    }
  }
}

void Operations::change_transfers(const Rendezvous& rendezvous, int difference, Time now) {
  for (const std::int32_t c : rendezvous.members)
    chips_.change_transfers(c, system_.pattern_of[rendezvous.message], difference, now);
}

}  // namespace podsim
