// Runs operations alone while they are, and among others from then on.
#include "scheduler/simulation/loop/operations.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr double kTicksPerSecond = 1e12;  // a tick is a picosecond

}  // namespace

Operations::Operations(const System& system, bool alone, std::size_t first_slot,
                       std::vector<Meeting>& meetings, Agenda& agenda, Inboxes& chips)
    : system_(system),
      alone_(alone),
      first_slot_(first_slot),
      meetings_(meetings),
      agenda_(agenda),
      chips_(chips),
      links_(link_capacities(system), kTicksPerSecond),
      lone_(system, links_),
      holders_(system.links.size()) {}

void Operations::start(std::int32_t m, Time now) {
  Meeting& meeting = meetings_[m];
  PODSIM_CHECK(!meeting.running, "a stream runs one operation at a time");
  meeting.lone = find(meeting);
  if (would_be_alone(meeting)) {
    start_alone(m, now);
    const KnownCollective known{now, lone_[meeting.lone].edges, system_.pattern_of[meeting.message], m};
    for (const std::int32_t c : meeting.members) chips_.start_known(c, known, now);
    return;
  }
  const std::span<const std::int32_t> links = links_of(meeting);
  for (std::int32_t other; (other = holders_.lone_holder(links)) >= 0;) join(other, now);
  holders_.share(links);
  meeting.running = true;
  meeting.alone = false;
  meeting.started = now;
  meeting.phase = 0;
  agenda_.set(first_slot_ + m, now + launch_of(meeting));
}

void Operations::start_alone(std::int32_t m, Time now) {
  Meeting& meeting = meetings_[m];
  meeting.running = true;
  meeting.alone = true;
  meeting.started = now;
  meeting.lone = find(meeting);
  meeting.phase = 0;
  holders_.hold_alone(m, links_of(meeting));
  agenda_.set(first_slot_ + m, now + lone_[meeting.lone].arrival);
}

// Another operation is to share links of this one, which was alone: it goes on from where it is.
void Operations::join(std::int32_t m, Time now) {
  Meeting& meeting = meetings_[m];
  const LoneCollective& collective = lone_[meeting.lone];
  meeting.alone = false;
  const std::span<const std::int32_t> links = links_of(meeting);
  holders_.leave_alone(links);
  holders_.share(links);
  const std::vector<ClassPhase>& phases = phases_of(meeting);
  const TransferEdge* edge = collective.edges.data();
  bool draining = false;
  Time arrived = meeting.started + launch_of(meeting);
  for (meeting.phase = 0; arrived < now; ++meeting.phase) {
    const ClassPhase& phase = phases[meeting.phase];
    if (drains(phase, bytes_of(meeting))) {
      const Time begin = meeting.started + (edge++)->after;
      arrived = meeting.started + (edge++)->after;
      draining = now < arrived;
      if (draining) {
        links_.begin_alone(begin.ps, now.ps, phase.uses, work_of(phase, bytes_of(meeting)), m);
        agenda_.clear(first_slot_ + m);
        break;
      }
    }
    arrived += latency_of(phase, bytes_of(meeting));
  }
  if (!draining) agenda_.set(first_slot_ + m, arrived);
  for (const std::int32_t c : meeting.members) chips_.forget_known(c, m, draining, now);
}

bool Operations::advance(std::int32_t m, Time now) {
  Meeting& meeting = meetings_[m];
  if (meeting.alone || meeting.phase == phases_of(meeting).size()) {
    const std::span<const std::int32_t> links = links_of(meeting);
    meeting.alone ? holders_.leave_alone(links) : holders_.leave_shared(links);
    meeting.running = false;
    return true;
  }
  const std::vector<ClassPhase>& phases = phases_of(meeting);
  const ClassPhase& phase = phases[meeting.phase];
  if (drains(phase, bytes_of(meeting))) {
    links_.begin(now.ps, phase.uses, work_of(phase, bytes_of(meeting)), m);
    change_transfers(meeting, +1, now);
  } else {
    await_arrival(m, now);
  }
  return false;
}

std::size_t Operations::drain(Time now) {
  drained_.clear();
  links_.end(now.ps, drained_);
  for (const std::int32_t m : drained_) {
    change_transfers(meetings_[m], -1, now);
    await_arrival(m, now);
  }
  return drained_.size();
}

// The last byte of the phase has left the links.
void Operations::await_arrival(std::int32_t m, Time now) {
  Meeting& meeting = meetings_[m];
  const ClassPhase& phase = phases_of(meeting)[meeting.phase++];
  const Time arrival = now + latency_of(phase, bytes_of(meeting));
  agenda_.set(first_slot_ + m, arrival);
  chips_.await(m, meeting.members.front(), arrival);
}

void Operations::change_speed(std::int32_t link, double factor, Time now) {
  if (system_.links[link].flap >= 0 && factor > 0) note_standstill(link, now);
  links_.set_capacity(now.ps, link, system_.links[link].bandwidth.value * factor);
}

// A link is about to come up.
void Operations::note_standstill(std::int32_t link, Time now) {
  for (const std::int32_t m : links_.stalled()) {
    const Meeting& meeting = meetings_[m];
    const std::vector<Use>& uses = phases_of(meeting)[meeting.phase].uses;
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

void Operations::change_transfers(const Meeting& meeting, int difference, Time now) {
  for (const std::int32_t c : meeting.members)
    chips_.change_transfers(c, system_.pattern_of[meeting.message], difference, now);
}

}  // namespace podsim
