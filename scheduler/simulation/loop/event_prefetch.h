// Loads what the next events need while others are handled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/indexed_event_queue.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"
#include "scheduler/simulation/loop/computation.h"
#include "scheduler/simulation/loop/lp_mailboxes.h"
#include "scheduler/simulation/state/accounts.h"
#include "scheduler/simulation/state/running.h"
#include "scheduler/simulation/state/stream_queues.h"

namespace podsim {

// The state of many chips, about 1 kB each, is far from the processor when an event comes to one of them, and
// an event needs it in some fifteen places. Where that is so, events are looked at a little ahead of their
// turn: first what lies at a place that their slots tell, then, nearer, what the former points to. Changes
// nothing.
class EventPrefetch {
 public:
  // Slots as in simulation.h: chips, then rendezvous from `first_rendezvous` on, then others from
  // `first_copy` on, logical processes from `first_process` on. any = false: nothing is looked at. REQUIRES:
  // all of them outlive this object.
  EventPrefetch(bool any, std::size_t first_rendezvous, std::size_t first_copy, std::size_t first_process,
                const LogicalProcesses& processes, IndexedEventQueue& event_queue,
                const std::vector<RunningChip>& chips, const std::vector<EarliestOutput>& earliest_outputs,
                const std::vector<Rendezvous>& all_rendezvous, const StreamQueues& queues,
                const Computation& computation, const Accounts& accounts, const LpMailboxes& mailboxes)
      : looks_(any && first_rendezvous >= kMany),
        first_rendezvous_(first_rendezvous),
        first_copy_(first_copy),
        first_process_(first_process),
        processes_(processes),
        event_queue_(event_queue),
        chips_(chips),
        earliest_outputs_(earliest_outputs),
        all_rendezvous_(all_rendezvous),
        queues_(queues),
        computation_(computation),
        accounts_(accounts),
        mailboxes_(mailboxes) {}

  // Before each event is handled.
  void look_ahead() {
    if (!looks_) return;
    const Distances ahead = processes_.any() ? kAheadOfProcesses : kAhead;
    while (const std::optional<std::size_t> slot = event_queue_.look_ahead(ahead.most)) fetch_first(*slot);
    if (const std::optional<std::size_t> slot = event_queue_.near_slot(ahead.nearer)) fetch_more(*slot);
    if (const std::optional<std::size_t> slot = event_queue_.near_slot(ahead.nearest)) fetch_next(*slot);
    if (const std::optional<std::size_t> slot = event_queue_.near_slot(0)) fetch_last(*slot);
  }

 private:
  // Chips that fit into the second cache.
  static constexpr std::size_t kMany = 1024;
  // Events ahead at which something is loaded, and at which more is. What a logical process needs is much,
  // and advances of logical processes are long. Chosen: few others were tried.
  struct Distances {
    std::size_t most, nearer, nearest;
  };
  static constexpr Distances kAhead{16, 12, 8}, kAheadOfProcesses{5, 3, 1};

  void fetch_first(std::size_t slot) const {
    if (slot < first_rendezvous_) {
      fetch_chip(static_cast<std::int32_t>(slot));
    } else if (meets(slot)) {
      fetch(all_rendezvous_[slot - first_rendezvous_]);
    } else if (slot >= first_process_) {
      event_queue_.fetch_part(slot - first_process_);
    }
  }

  void fetch_more(std::size_t slot) const {
    if (meets(slot)) {
      fetch(all_rendezvous_[slot - first_rendezvous_].members.data(), kCacheLine);
    } else if (slot >= first_process_) {
      fetch_process(static_cast<std::int32_t>(slot - first_process_));
    }
  }

  // The members of a rendezvous, or the rendezvous that a chip reaches after its computation.
  void fetch_next(std::size_t slot) const {
    if (meets(slot)) {
      for (const std::int32_t c : all_rendezvous_[slot - first_rendezvous_].members) fetch_chip(c);
    } else if (const Rendezvous* next = rendezvous_after(slot)) {
      fetch(*next);
    }
  }

  // Whom it concerns when the chip reaches that rendezvous.
  void fetch_last(std::size_t slot) const {
    if (slot < first_process_) return;
    if (const Rendezvous* next = rendezvous_after(slot))
      for (const std::int32_t c : next->members) mailboxes_.fetch_chip(c);
  }

  // That the chip of the slot, or the one that is next of the logical process, reaches after its computation;
  // null where it does something else.
  const Rendezvous* rendezvous_after(std::size_t slot) const {
    if (slot >= first_process_) {
      const IndexedEventQueue::Event next = event_queue_.next(slot - first_process_);
      if (next.time == Time::max().ps) return nullptr;
      slot = next.slot;
    }
    if (slot >= first_rendezvous_) return nullptr;
    const RunningChip& chip = chips_[slot];
    const Instruction* next = chip.at + 1;
    while (next != chip.end && next->kind == Instruction::Kind::kHost) ++next;  // most often it is ahead
    if (next == chip.end || next->kind != Instruction::Kind::kLaunch) return nullptr;
    const auto c = static_cast<std::int32_t>(slot);
    return &all_rendezvous_[queues_.rendezvous(c, queues_.first(c, chip.program, next->stream))];
  }

  bool meets(std::size_t slot) const { return slot >= first_rendezvous_ && slot < first_copy_; }

  void fetch_chip(std::int32_t c) const {
    fetch(chips_[c]);
    computation_.fetch_chip(c);
    accounts_.fetch_chip(c);
    queues_.fetch_chip(c);
  }

  void fetch_process(std::int32_t i) const {
    event_queue_.fetch_places(static_cast<std::size_t>(i));
    for (const std::int32_t m : processes_.all_rendezvous[i]) fetch_rendezvous(m);
    const std::span<const std::int32_t> chips = processes_.chips[i];
    fetch(&earliest_outputs_[chips.front()],
          chips.size() * sizeof(EarliestOutput));  // most often one after another
    for (const std::int32_t c : chips) fetch_chip(c);
  }

  void fetch_rendezvous(std::int32_t m) const {
    fetch(all_rendezvous_[m]);
    accounts_.fetch_start(m);
  }

  const bool looks_;  // ahead
  const std::size_t first_rendezvous_, first_copy_, first_process_;
  const LogicalProcesses& processes_;
  IndexedEventQueue& event_queue_;
  const std::vector<RunningChip>& chips_;
  const std::vector<EarliestOutput>& earliest_outputs_;
  const std::vector<Rendezvous>& all_rendezvous_;
  const StreamQueues& queues_;
  const Computation& computation_;
  const Accounts& accounts_;
  const LpMailboxes& mailboxes_;
};

}  // namespace podsim
