// Loads what the next events need while others are handled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/cache.h"
#include "scheduler/simulation/loop/computation.h"
#include "scheduler/simulation/state/step_state.h"

namespace podsim {

// The state of many chips, about 1 kB each, is far from the processor when an event comes to one of them, and
// an event needs it in some fifteen places. Where that is so, events are looked at a little ahead of their
// turn: first what lies at a place that their slots tell, then, nearer, what the former points to. Changes
// the order of loads and nothing else, and can be left out.
class EventPrefetch {
 public:
  // on = false: nothing is looked at. REQUIRES: both outlive this object.
  EventPrefetch(bool on, StepState& state, const Computation& computation)
      : on_(on), state_(state), computation_(computation) {}

  // Before each event is handled. O(log slots).
  void look_ahead() {
    if (!on_) return;
    IndexedEventQueue& queue = state_.event_queue;
    while (const std::optional<std::size_t> slot = queue.look_ahead(kMost)) fetch_first(*slot);
    if (const std::optional<std::size_t> slot = queue.near_slot(kNearer)) fetch_more(*slot);
    if (const std::optional<std::size_t> slot = queue.near_slot(kNearest)) fetch_next(*slot);
  }

 protected:
  // What lies at the places of a chip; it itself and its members, of a rendezvous.
  void fetch_chip(std::int32_t c) const {
    fetch(state_.chips[c]);
    computation_.fetch_chip(c);
    state_.accounts.fetch_chip(c);
    state_.queues.fetch_chip(c);
  }
  void fetch_rendezvous(std::size_t slot) const { fetch(rendezvous_of(slot)); }
  void fetch_members(std::size_t slot) const {
    for (const std::int32_t c : rendezvous_of(slot).members) fetch_chip(c);
  }

  // What the members of a rendezvous of many are listed by.
  void fetch_list(std::size_t slot) const { fetch(rendezvous_of(slot).members.data(), kCacheLine); }

  // That the chip of the slot reaches after its computation; null where it does something else.
  const Rendezvous* rendezvous_after(std::size_t slot) const {
    const RunningChip& chip = state_.chips[slot];
    const Instruction* next = chip.at + 1;
    while (next != chip.end && next->kind == Instruction::Kind::kHost) ++next;  // most often it is ahead
    if (next == chip.end || next->kind != Instruction::Kind::kLaunch) return nullptr;
    const auto c = static_cast<std::int32_t>(slot);
    return &state_.all_rendezvous[state_.queues.rendezvous(
        c, state_.queues.first(c, chip.program, next->stream))];
  }

  const bool on_;
  StepState& state_;

 private:
  // Events ahead at which something is loaded, and at which more is. Chosen: few others were tried.
  static constexpr std::size_t kMost = 16, kNearer = 12, kNearest = 8;

  const Rendezvous& rendezvous_of(std::size_t slot) const {
    return state_.all_rendezvous[state_.slots.rendezvous(slot)];
  }

  void fetch_first(std::size_t slot) const {
    if (state_.slots.is_chip(slot)) {
      fetch_chip(static_cast<std::int32_t>(slot));
    } else if (state_.slots.is_rendezvous(slot)) {
      fetch_rendezvous(slot);
    }
  }

  void fetch_more(std::size_t slot) const {
    if (state_.slots.is_rendezvous(slot)) fetch_list(slot);
  }

  // The members of a rendezvous, or the rendezvous that a chip reaches after its computation.
  void fetch_next(std::size_t slot) const {
    if (state_.slots.is_rendezvous(slot)) {
      fetch_members(slot);
    } else if (state_.slots.is_chip(slot)) {
      if (const Rendezvous* next = rendezvous_after(slot)) fetch(*next);
    }
  }

  const Computation& computation_;
};

}  // namespace podsim
