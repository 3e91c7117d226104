// Collectives and transfers under way: launch, then phase after phase the transfer and its latency.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/fluid.h"
#include "engine/indexed_event_queue.h"
#include "scheduler/simulation/loop/lp_mailboxes.h"
#include "scheduler/simulation/state/running.h"
#include "scheduler/simulation/state/timeline.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// The operations of all rendezvous, one at a time of each, as long as they are alone on their links by the
// list of their instants and otherwise by the fluid solver. What a rendezvous's operation does next is the
// event of slot `first_slot` + rendezvous, while none of its transfers drains.
class Operations {
 public:
  // alone = false: none is taken for alone. REQUIRES: all of them outlive this object; `rendezvous` keeps its
  // size.
  Operations(const System& system, bool alone, std::size_t first_slot,
             std::vector<Rendezvous>& all_rendezvous, IndexedEventQueue& event_queue, LpMailboxes& chips);

  // Starts the rendezvous's message. REQUIRES: none of it runs.
  void start(std::int32_t rendezvous, Time now);

  // How it runs when it is alone. Valid until this is asked of another one.
  const UncontendedCollective& alone(std::int32_t rendezvous) {
    return uncontended_[find(all_rendezvous_[rendezvous])];
  }

  // Starts the rendezvous's message, and leaves it to the caller to tell the members' computations.
  // REQUIRES: none of it runs, and it would be alone.
  void start_alone(std::int32_t rendezvous, Time now);

  // The event of the rendezvous's slot. True when the operation is over.
  bool advance(std::int32_t rendezvous, Time now);

  // When transfers drain next; what drains then. Returns how many.
  Time next_drain() { return {links_.next()}; }
  std::size_t drain(Time now);

  // From now on the link class has this share of its bandwidth.
  void change_speed(std::int32_t link, double factor, Time now);

  // What has stood still on links that flapped and are up again.
  const std::vector<Standstill>& standstills() const { return standstills_; }

  // Of state_capture.h. Who holds which links follows from what runs.
  template <class Visitor>
  void visit(Visitor& state) {
    for (Rendezvous& rendezvous : all_rendezvous_) rendezvous.visit(state);
    links_.visit(state);
  }

 private:
  bool would_be_alone(const Rendezvous& rendezvous) const {
    return alone_ && uncontended_[rendezvous.uncontended].ends && holders_.free(links_of(rendezvous));
  }
  void join(std::int32_t rendezvous, Time now);
  void await_arrival(std::int32_t rendezvous, Time now);
  void note_standstill(std::int32_t link, Time now);
  void change_transfers(const Rendezvous& rendezvous, int difference, Time now);
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

  const System& system_;
  const bool alone_;
  const std::size_t first_slot_;
  std::vector<Rendezvous>& all_rendezvous_;
  IndexedEventQueue& event_queue_;
  LpMailboxes& chips_;
  Fluid links_;  // owners of what drains are rendezvous
  UncontendedCollectives uncontended_;
  LinkHolders holders_;
  std::vector<std::int32_t> drained_;
  std::vector<Standstill> standstills_;
};

}  // namespace podsim
