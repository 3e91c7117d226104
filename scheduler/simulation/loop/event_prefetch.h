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
#include "scheduler/simulation/state/stream_progress.h"

namespace podsim {

// The state of many chips, about 1 kB each, is far from the processor when an event comes to one of them, and
// an event needs it in some fifteen places. Where that is so, events are looked at a little ahead of their
// turn: first what lies at a place that their slots tell, then, nearer, what the former points to. Changes
// nothing.
class Upcoming {
 public:
  // Slots as in simulation.h: chips, then meetings from `first_meeting` on, then others from `first_copy` on,
  // islands from `first_island` on.
  // REQUIRES: all of them outlive this object.
  Upcoming(std::size_t first_meeting, std::size_t first_copy, std::size_t first_island,
           const Islands& islands, Agenda& agenda, const std::vector<RunningChip>& chips,
           const std::vector<Concern>& concerns, const std::vector<Meeting>& meetings,
           const RunningLanes& lanes, const Computation& computation, const Accounts& accounts,
           const Inboxes& inboxes)
      : first_meeting_(first_meeting),
        first_copy_(first_copy),
        first_island_(first_island),
        islands_(islands),
        agenda_(agenda),
        chips_(chips),
        concerns_(concerns),
        meetings_(meetings),
        lanes_(lanes),
        computation_(computation),
        accounts_(accounts),
        inboxes_(inboxes) {}

  // Before each event is handled.
  void look_ahead() {
    if (first_meeting_ < kMany) return;
    const Distances ahead = islands_.any() ? kAheadOfIslands : kAhead;
    while (const std::optional<std::size_t> slot = agenda_.look_ahead(ahead.most)) fetch_first(*slot);
    if (const std::optional<std::size_t> slot = agenda_.near_slot(ahead.nearer)) fetch_more(*slot);
    if (const std::optional<std::size_t> slot = agenda_.near_slot(ahead.nearest)) fetch_next(*slot);
    if (const std::optional<std::size_t> slot = agenda_.near_slot(0)) fetch_last(*slot);
  }

 private:
  // Chips that fit into the second cache.
  static constexpr std::size_t kMany = 1024;
  // Events ahead at which something is loaded, and at which more is. What an island needs is much, and the
  // turns of islands are long. Chosen: few others were tried.
  struct Distances {
    std::size_t most, nearer, nearest;
  };
  static constexpr Distances kAhead{16, 12, 8}, kAheadOfIslands{5, 3, 1};

  void fetch_first(std::size_t slot) const {
    if (slot < first_meeting_) {
      fetch_chip(static_cast<std::int32_t>(slot));
    } else if (meets(slot)) {
      fetch(meetings_[slot - first_meeting_]);
    } else if (slot >= first_island_) {
      agenda_.fetch_part(slot - first_island_);
    }
  }

  void fetch_more(std::size_t slot) const {
    if (meets(slot)) {
      fetch(meetings_[slot - first_meeting_].members.data(), kCacheLine);
    } else if (slot >= first_island_) {
      fetch_island(static_cast<std::int32_t>(slot - first_island_));
    }
  }

  // The members of a meeting, or the meeting that a chip reaches after its computation.
  void fetch_next(std::size_t slot) const {
    if (meets(slot)) {
      for (const std::int32_t c : meetings_[slot - first_meeting_].members) fetch_chip(c);
    } else if (const Meeting* next = meeting_after(slot)) {
      fetch(*next);
    }
  }

  // Whom it concerns when the chip reaches that meeting.
  void fetch_last(std::size_t slot) const {
    if (slot < first_island_) return;
    if (const Meeting* next = meeting_after(slot))
      for (const std::int32_t c : next->members) inboxes_.fetch_chip(c);
  }

  // That the chip of the slot, or the one that is next of the island, reaches after its computation; null
  // where it does something else.
  const Meeting* meeting_after(std::size_t slot) const {
    if (slot >= first_island_) {
      const Agenda::Event next = agenda_.next(slot - first_island_);
      if (next.time == Time::max().ps) return nullptr;
      slot = next.slot;
    }
    if (slot >= first_meeting_) return nullptr;
    const RunningChip& chip = chips_[slot];
    const Instruction* next = chip.at + 1;
    while (next != chip.end && next->kind == Instruction::Kind::kHost) ++next;  // most often it is ahead
    if (next == chip.end || next->kind != Instruction::Kind::kLaunch) return nullptr;
    const auto c = static_cast<std::int32_t>(slot);
    return &meetings_[lanes_.meeting(c, lanes_.first(c, chip.program, next->stream))];
  }

  bool meets(std::size_t slot) const { return slot >= first_meeting_ && slot < first_copy_; }

  void fetch_chip(std::int32_t c) const {
    fetch(chips_[c]);
    computation_.fetch_chip(c);
    accounts_.fetch_chip(c);
    lanes_.fetch_chip(c);
  }

  void fetch_island(std::int32_t i) const {
    agenda_.fetch_places(static_cast<std::size_t>(i));
    for (const std::int32_t m : islands_.meetings[i]) fetch_meeting(m);
    const std::span<const std::int32_t> chips = islands_.chips[i];
    fetch(&concerns_[chips.front()], chips.size() * sizeof(Concern));  // most often one after another
    for (const std::int32_t c : chips) fetch_chip(c);
  }

  void fetch_meeting(std::int32_t m) const {
    fetch(meetings_[m]);
    accounts_.fetch_start(m);
  }

  const std::size_t first_meeting_, first_copy_, first_island_;
  const Islands& islands_;
  Agenda& agenda_;
  const std::vector<RunningChip>& chips_;
  const std::vector<Concern>& concerns_;
  const std::vector<Meeting>& meetings_;
  const RunningLanes& lanes_;
  const Computation& computation_;
  const Accounts& accounts_;
  const Inboxes& inboxes_;
};

}  // namespace podsim
