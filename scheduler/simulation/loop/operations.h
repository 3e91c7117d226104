// Collectives and transfers under way: launch, then phase after phase the transfer and its latency.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/check.h"
#include "engine/fluid.h"
#include "scheduler/simulation/state/computation_progress.h"
#include "scheduler/simulation/state/step_state.h"
#include "scheduler/simulation/state/timeline.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// The operations of all rendezvous, one at a time of each: by the list of their instants as long as they are
// alone on their links, and otherwise by the fluid solver. What a rendezvous's operation does next is the
// event of its slot, while none of its transfers drains.
//
// Rule. What is alone goes by instants that are worked out once for each group and message. When another
// operation comes to one of its links, both go on in the solver, from where the first one is by then, with
// the arithmetic that the solver would have used: so it makes no difference when an operation is taken for
// alone (uncontended_collectives.h).
//
// `Chips` hears what begins and ends on members: start_known, forget_known and change_transfers of
// Computation, or of something that tells it. Where it keeps events itself it has set_event(rendezvous,
// time).
template <class Chips>
class Operations {
 public:
  // REQUIRES: all of them outlive this object; `uncontended` is of the same system.
  Operations(StepState& state, UncontendedCollectives& uncontended, Chips& chips)
      : state_(state),
        system_(state.system),
        alone_(!state.options.share_all_links),
        chips_(chips),
        links_(link_capacities(system_), kTicksPerSecond),
        uncontended_(uncontended),
        holders_(system_.links.size()) {}

  // Starts the rendezvous's message. REQUIRES: none of it runs.
  void start(std::int32_t rendezvous, Time now);

  // How it runs when it is alone. Valid until this is asked of another one.
  const UncontendedCollective& alone(std::int32_t rendezvous) {
    return uncontended_[find(state_.all_rendezvous[rendezvous])];
  }

  // Starts the rendezvous's message, and leaves it to the caller to tell the members' computations.
  // REQUIRES: none of it runs, and it would be alone.
  void start_alone(std::int32_t rendezvous, Time now);

  // Whether the rendezvous's message, which is this run of UncontendedCollectives, is alone. If so it starts,
  // and the caller tells the members' computations. REQUIRES: none of it runs.
  bool start_if_alone(std::int32_t rendezvous, std::int32_t run, Time now) {
    const std::span<const std::int32_t> links = uncontended_.links(run);
    if (!alone_ || !holders_.free(links)) return false;
    go_alone(rendezvous, run, links, now);
    return true;
  }

  // The event of the rendezvous's slot. True when the operation is over.
  bool advance(std::int32_t rendezvous, Time now);

  // When transfers drain next; what drains then. Returns the rendezvous whose transfers have drained, valid
  // until this is called again.
  Time next_drain() { return {links_.next()}; }
  bool any_drains() const { return !links_.idle(); }
  std::span<const std::int32_t> drain(Time now);

  // From now on the link class has this share of its bandwidth.
  void change_speed(std::int32_t link, double factor, Time now);

  // What has stood still on links that flapped and are up again.
  const std::vector<Standstill>& standstills() const { return standstills_; }

  // Of state_capture.h. Who holds which links follows from what runs.
  template <class Visitor>
  void visit(Visitor& state) {
    for (Rendezvous& rendezvous : state_.all_rendezvous) rendezvous.visit(state);
    links_.visit(state);
  }

 private:
  static constexpr double kTicksPerSecond = 1e12;  // a tick is a picosecond

  // Nobody else is on its links, all of which have capacity that stays.
  bool would_be_alone(const Rendezvous& rendezvous) const {
    return alone_ && uncontended_[rendezvous.uncontended].ends && holders_.free(links_of(rendezvous));
  }
  // Another operation is to share links of this one, which was alone: it goes on from where it is. O(phases).
  void share_links(std::int32_t rendezvous, Time now);
  // The last byte of the present phase has left the links; the next phase begins once it has arrived.
  void await_arrival(std::int32_t rendezvous, Time now);
  // A link is about to come up: what has stood still on it, and for how long.
  void note_standstill(std::int32_t link, Time now);
  // A transfer begins (+1) or ends (-1) on all members.
  void change_transfers(const Rendezvous& rendezvous, int difference, Time now) {
    for (const std::int32_t c : rendezvous.members)
      chips_.change_transfers(c, system_.pattern_of[rendezvous.message], difference, now);
  }
  void set_event(std::int32_t rendezvous, Time time) {
    if constexpr (requires { chips_.set_event(rendezvous, time); }) {
      chips_.set_event(rendezvous, time);
    } else {
      state_.event_queue.set(state_.slots.of_rendezvous(rendezvous), time);
    }
  }
  void go_alone(std::int32_t m, std::int32_t run, std::span<const std::int32_t> links, Time now) {
    Rendezvous& rendezvous = state_.all_rendezvous[m];
    PODSIM_CHECK(!rendezvous.running, "a rendezvous runs one operation at a time");
    rendezvous.running = true;
    rendezvous.alone = true;
    rendezvous.started = now;
    rendezvous.uncontended = run;
    rendezvous.phase = 0;
    holders_.hold_alone(m, links);
    set_event(m, now + uncontended_[run].arrival);
  }

  const std::vector<ClassPhase>& phases_of(const Rendezvous& rendezvous) const {
    return system_.groups[rendezvous.group].patterns[system_.pattern_of[rendezvous.message]];
  }
  // Of what runs, or is about to.
  std::span<const std::int32_t> links_of(const Rendezvous& rendezvous) const {
    return uncontended_.links(rendezvous.uncontended);
  }
  std::int32_t find(const Rendezvous& rendezvous) {
    return uncontended_.find(rendezvous.group, rendezvous.message);
  }
  Time launch_of(const Rendezvous& rendezvous) const {
    return system_.patterns[system_.pattern_of[rendezvous.message]].launch;
  }
  Bytes bytes_of(const Rendezvous& rendezvous) const {
    return system_.step.messages[rendezvous.message].bytes;
  }

  StepState& state_;
  const System& system_;
  const bool alone_;  // operations may be taken for alone
  Chips& chips_;
  Fluid links_;  // owners of what drains are rendezvous
  UncontendedCollectives& uncontended_;
  LinkHolders holders_;
  std::vector<std::int32_t> drained_;
  std::vector<Standstill> standstills_;
};

template <class Chips>
void Operations<Chips>::start(std::int32_t m, Time now) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
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
  for (std::int32_t other; (other = holders_.lone_holder(links)) >= 0;) share_links(other, now);
  holders_.share(links);
  rendezvous.running = true;
  rendezvous.alone = false;
  rendezvous.started = now;
  rendezvous.phase = 0;
  set_event(m, now + launch_of(rendezvous));
}

template <class Chips>
void Operations<Chips>::start_alone(std::int32_t m, Time now) {
  const std::int32_t run = find(state_.all_rendezvous[m]);
  go_alone(m, run, uncontended_.links(run), now);
}

template <class Chips>
void Operations<Chips>::share_links(std::int32_t m, Time now) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
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
        set_event(m, Time::max());
        break;
      }
    }
    arrived += latency_of(phase, bytes_of(rendezvous));
  }
  if (!draining) set_event(m, arrived);
  for (const std::int32_t c : rendezvous.members) chips_.forget_known(c, m, draining, now);
}

template <class Chips>
bool Operations<Chips>::advance(std::int32_t m, Time now) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  if (rendezvous.alone || rendezvous.phase == phases_of(rendezvous).size()) {
    const std::span<const std::int32_t> links = links_of(rendezvous);
    rendezvous.alone ? holders_.leave_alone(links) : holders_.leave_shared(links);
    rendezvous.running = false;
    return true;
  }
  const ClassPhase& phase = phases_of(rendezvous)[rendezvous.phase];
  if (drains(phase, bytes_of(rendezvous))) {
    links_.begin(now.ps, phase.uses, work_of(phase, bytes_of(rendezvous)), m);
    change_transfers(rendezvous, +1, now);
  } else {
    await_arrival(m, now);
  }
  return false;
}

template <class Chips>
std::span<const std::int32_t> Operations<Chips>::drain(Time now) {
  drained_.clear();
  links_.end(now.ps, drained_);
  for (const std::int32_t m : drained_) {
    change_transfers(state_.all_rendezvous[m], -1, now);
    await_arrival(m, now);
  }
  return drained_;
}

template <class Chips>
void Operations<Chips>::await_arrival(std::int32_t m, Time now) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  const ClassPhase& phase = phases_of(rendezvous)[rendezvous.phase++];
  set_event(m, now + latency_of(phase, bytes_of(rendezvous)));
}

template <class Chips>
void Operations<Chips>::change_speed(std::int32_t link, double factor, Time now) {
  if (system_.links[link].flap >= 0 && factor > 0) note_standstill(link, now);
  links_.set_capacity(now.ps, link, system_.links[link].bandwidth.value * factor);
}

template <class Chips>
void Operations<Chips>::note_standstill(std::int32_t link, Time now) {
  for (const std::int32_t m : links_.stalled()) {
    const Rendezvous& rendezvous = state_.all_rendezvous[m];
    const std::vector<Use>& uses = phases_of(rendezvous)[rendezvous.phase].uses;
    if (std::none_of(uses.begin(), uses.end(), [&](const Use& use) { return use.resource == link; }))
      continue;
    keep_longest(standstills_, {system_.links[link].flap, {links_.stalled_since(m)}, now});
  }
}

}  // namespace podsim
