// Loads what the next logical processes need while others are taken on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"
#include "scheduler/simulation/logical_processes/lp_mailboxes.h"
#include "scheduler/simulation/loop/event_prefetch.h"

namespace podsim {

// As EventPrefetch, where an event is mostly that of a logical process, which needs much and takes long.
class LpPrefetch : private EventPrefetch {
 public:
  // A logical process is the event of slot `first_process` + its number. REQUIRES: all of them outlive this
  // object.
  LpPrefetch(bool on, StepState& state, const Computation& computation, const LogicalProcesses& processes,
             const std::vector<EarliestOutput>& earliest_outputs, const LpMailboxes& mailboxes)
      : EventPrefetch(on, state, computation),
        processes_(processes),
        earliest_outputs_(earliest_outputs),
        mailboxes_(mailboxes) {}

  // Before each event is handled.
  void look_ahead() {
    if (!on_) return;
    IndexedEventQueue& queue = state_.event_queue;
    while (const std::optional<std::size_t> slot = queue.look_ahead(kMost)) fetch_first(*slot);
    if (const std::optional<std::size_t> slot = queue.near_slot(kNearer)) fetch_more(*slot);
    if (const std::optional<std::size_t> slot = queue.near_slot(kNearest)) fetch_next(*slot);
    if (const std::optional<std::size_t> slot = queue.near_slot(0)) fetch_last(*slot);
  }

 private:
  static constexpr std::size_t kMost = 5, kNearer = 3, kNearest = 1;  // chosen, as there

  // All chips are apart: what comes up is a shared rendezvous or a logical process.
  bool is_process(std::size_t slot) const { return slot >= state_.slots.first_added; }
  std::size_t process(std::size_t slot) const { return slot - state_.slots.first_added; }

  void fetch_first(std::size_t slot) const {
    if (is_process(slot)) {
      state_.event_queue.fetch_part(process(slot));
    } else {
      fetch_rendezvous(slot);
    }
  }

  void fetch_more(std::size_t slot) const {
    if (!is_process(slot)) return fetch_list(slot);
    const auto i = static_cast<std::int32_t>(process(slot));
    state_.event_queue.fetch_places(process(slot));
    for (const std::int32_t m : processes_.all_rendezvous[i]) {
      fetch(state_.all_rendezvous[m]);
      state_.accounts.fetch_start(m);
    }
    const std::span<const std::int32_t> chips = processes_.chips[i];  // most often one after another
    fetch(&earliest_outputs_[chips.front()], chips.size() * sizeof(EarliestOutput));
    for (const std::int32_t c : chips) fetch_chip(c);
  }

  void fetch_next(std::size_t slot) const {
    if (!is_process(slot)) return fetch_members(slot);
    if (const Rendezvous* next = next_rendezvous(slot)) fetch(*next);
  }

  // Whom it concerns when the chip reaches that rendezvous.
  void fetch_last(std::size_t slot) const {
    if (!is_process(slot)) return;
    if (const Rendezvous* next = next_rendezvous(slot))
      for (const std::int32_t c : next->members) mailboxes_.fetch_chip(c);
  }

  // That the chip reaches which is next of the logical process; null where something else is next.
  const Rendezvous* next_rendezvous(std::size_t slot) const {
    const IndexedEventQueue::Event next = state_.event_queue.next(process(slot));
    const bool computes = next.time < Time::max().ps && state_.slots.is_chip(next.slot);
    return computes ? rendezvous_after(next.slot) : nullptr;
  }

  const LogicalProcesses& processes_;
  const std::vector<EarliestOutput>& earliest_outputs_;
  const LpMailboxes& mailboxes_;
};

}  // namespace podsim
