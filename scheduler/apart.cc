// Islands one by one, each as far as the present and no further.
//
// Rule. Nothing passes between two islands but by shared operations. An island may therefore stay behind the
// present until one of its chips concerns others (lookahead.h): what others do to it meanwhile is noted with
// its time, and it goes through that and its own events in order of time when it is taken on. It is taken on
// at the earliest instant at which one of its chips may concern others, computing without jitter at its worst
// and without transfers beside it, so never too late; what has become later is then foreseen anew.
// While an operation of the island may share links, all its events are in order of time with those of others.
#include <algorithm>

#include "scheduler/simulation.h"

namespace podsim {

void Simulation::set_islands_apart() {
  if (!islands_.any()) return;
  std::vector<std::vector<std::size_t>> slots(islands_.chips.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].assign(islands_.chips[i].begin(), islands_.chips[i].end());
    for (const std::int32_t m : islands_.meetings[i])
      slots[i].push_back(first_meeting_ + static_cast<std::size_t>(m));
    for (const std::int32_t c : islands_.chips[i]) {
      for (const Stream stream : {Stream::kToHost, Stream::kFromHost})
        if (first_copy_ < first_late_) slots[i].push_back(copies_.slot_of({c, stream}));
      if (delays_.late().any()) slots[i].push_back(first_late_ + static_cast<std::size_t>(c));
    }
  }
  agenda_.set_apart(slots);
}

void Simulation::take_to_present(std::int32_t island) {
  const auto part = static_cast<std::size_t>(island);
  inboxes_.enter(island);
  for (;;) {
    computation_.foresee();
    const auto [time, slot] = agenda_.next(part);
    const Time event{time}, notice = inboxes_.next_time(island);
    if (std::min(event, notice) > present_) break;
    now_ = std::min(event, notice);
    if (notice > event) {
      agenda_.clear(slot);
      happen(slot);
    } else if (const std::int32_t c = inboxes_.take(island); c >= 0) {
      advance(c);
    }
  }
  inboxes_.leave();
  now_ = present_;
  inboxes_.wake_at(island, next_concern(island));
}

void Simulation::take_all_to_present() {
  for (std::size_t i = 0; i < islands_.chips.size(); ++i) take_to_present(static_cast<std::int32_t>(i));
}

// When the island has to be taken on at the latest, as far as it is known. REQUIRES: it is at the present.
Time Simulation::next_concern(std::int32_t island) {
  if (const Time notice = inboxes_.next_time(island); notice < Time::max()) return notice;
  const Time event{agenda_.next(static_cast<std::size_t>(island)).time};
  if (event == Time::max() || may_share_links(island)) return event;
  Time first = Time::max();
  for (const std::int32_t c : islands_.chips[island]) {
    const RunningChip& chip = chips_[c];
    if (delays_.late().any())
      first = std::min(first, agenda_.time_apart(first_late_ + static_cast<std::size_t>(c)));
    if (chip.ended || (chip.blocked && !islands_.inner(chip.at->stream))) continue;
    const Time next = chip.blocked ? event : agenda_.time_apart(static_cast<std::size_t>(c));
    if (next == Time::max()) continue;
    const Lookahead::Work work = lookahead_.after(chip);
    first = std::min(first, next + computation_.least_length(c, work.duration, work.computations));
  }
  return first;
}

bool Simulation::may_share_links(std::int32_t island) const {
  const std::vector<std::int32_t>& inner = islands_.meetings[island];
  return crossings_[island] > 0 || std::any_of(inner.begin(), inner.end(), [&](std::int32_t m) {
           return meetings_[m].running && !meetings_[m].alone;
         });
}

// All members have reached the operation. Islands that it crosses have to be at the present first: its start
// is an event.
void Simulation::start(std::int32_t m) {
  if (!islands_.any() || islands_.crossed[m].empty()) return operations_.start(m, now_);
  agenda_.set(first_meeting_ + static_cast<std::size_t>(m), now_);
  ++to_start_;
}

// Whether the event of the slot is such a start, which it then is.
bool Simulation::starts(std::size_t slot) {
  if (slot < first_meeting_ || slot >= first_copy_) return false;
  const auto m = static_cast<std::int32_t>(slot - first_meeting_);
  if (meetings_[m].running) return false;
  --to_start_;
  const std::vector<std::int32_t>& crossed = islands_.crossed[m];
  for (const std::int32_t island : crossed) take_to_present(island);
  operations_.start(m, now_);
  for (const std::int32_t island : crossed) {
    ++crossings_[island];
    inboxes_.wake_at(island, next_concern(island));
  }
  return true;
}

void Simulation::end_crossing(std::int32_t m) {
  if (!islands_.any()) return;
  for (const std::int32_t island : islands_.crossed[m]) --crossings_[island];
}

}  // namespace podsim
