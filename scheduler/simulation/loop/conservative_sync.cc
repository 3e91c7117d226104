// Islands one by one, each as far as the present and no further.
//
// Rule. Nothing passes between two islands but by shared operations. An island may therefore stay behind the
// present until one of its chips concerns others (lookahead.h): what others do to it meanwhile is noted with
// its time, and it goes through that and its own events in order of time when it is taken on. It is taken on
// at the earliest instant at which one of its chips may concern others, computing as fast as its draws allow
// and without transfers beside it, so never too late; what has become later is then foreseen anew.
// While an operation of the island may share links, all its events are in order of time with those of others.
#include <algorithm>

#include "scheduler/simulation/loop/simulation.h"

namespace podsim {
namespace {

constexpr std::int64_t kFewEvents = 2;  // that are not worth it to look at all chips

// The end of a computation that is settled at more instants than was foreseen is rounded otherwise, and comes
// earlier by a picosecond or two for each at most. Room for half a million of them: no group has so many
// transfers.
constexpr Time kRounding{1'000'000};

}  // namespace

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
  const bool by_programs = in_turn_ && !may_share_links(island);
  const bool many = by_programs && agenda_.due(static_cast<std::size_t>(island), present_) > kFewEvents;
  if (many || !take_in_order_of_time(island, by_programs ? kFewEvents : INT64_MAX))
    take_in_program_order(island);
  taken_to_[island] = now_ = present_;
  inboxes_.wake_at(island, next_concern(island));
}

bool Simulation::take_in_order_of_time(std::int32_t island, std::int64_t most_events) {
  const auto part = static_cast<std::size_t>(island);
  const std::int64_t stop = most_events == INT64_MAX ? most_events : events_ + most_events;
  inboxes_.enter(island);
  for (;;) {
    computation_.foresee();
    const auto [time, slot] = agenda_.next(part);
    const Time event{time}, notice = inboxes_.next_time(island);
    if (std::min(event, notice) > present_) break;
    if (events_ == stop) {
      inboxes_.leave();
      return false;
    }
    now_ = std::min(event, notice);
    if (notice > event) {
      agenda_.clear(slot);
      slot < first_meeting_ ? gone_on_.add(place_of(static_cast<std::int32_t>(slot))) : gone_on_.add_all();
      happen(slot);
    } else {
      heed(inboxes_.take(island));
    }
  }
  inboxes_.leave();
  return true;
}

// The island is at its time.
void Simulation::heed(const Inboxes::Notice& notice) {
  using Kind = Inboxes::Notice::Kind;
  gone_on_.add(place_of(notice.chip));
  switch (notice.kind) {
    case Kind::kStarts:
      return computation_.start_known(notice.chip, {notice.at, notice.edges, notice.pattern, notice.meeting},
                                      notice.at);
    case Kind::kForgotten:
      return computation_.forget_known(notice.chip, notice.meeting, notice.draining, notice.at);
    case Kind::kTransfers:
      return computation_.change_transfers(notice.chip, notice.pattern, notice.difference, notice.at);
    case Kind::kGoOn:
      return advance(notice.chip);
  }
}

void Simulation::take_all_to_present() {
  for (std::size_t i = 0; i < islands_.chips.size(); ++i) take_to_present(static_cast<std::int32_t>(i));
}

// When the island has to be taken on at the latest, as far as it is known. REQUIRES: it is at the present.
// Only chips that have gone on are looked at: others concern nobody before the time that was found for them.
Time Simulation::next_concern(std::int32_t island) {
  if (const Time notice = inboxes_.next_time(island); notice < Time::max()) return notice;
  const Time event{agenda_.next(static_cast<std::size_t>(island)).time};
  const std::span<const std::int32_t> chips = islands_.chips[island];
  if (may_share_links(island)) {
    for (const std::int32_t c : chips) concern_[c] = {};
    after_event_[island] = rounded_[island] = {};
    return event;
  }
  Time first = Time::max(), after = Time::max(), rounded = Time::max();
  for (const std::int32_t c : chips) {
    Concern& concern = concern_[c];
    if (gone_on_.contains(place_of(c)) || (!concern.waits && concern.time <= present_))
      concern = concern_of(c);
    if (concern.waits) {
      after = std::min(after, concern.time);
      continue;
    }
    if (concern.rounded) rounded = std::min(rounded, concern.time);
    first = std::min(first, concern.rounded ? std::max(concern.time, event) : concern.time);
  }
  gone_on_.clear();
  after_event_[island] = after;
  rounded_[island] = rounded;
  if (event == Time::max() || after == Time::max()) return first;
  return std::min(first, event + std::max(Time{}, after - kRounding));
}

Concern Simulation::concern_of(std::int32_t c) {
  const RunningChip& chip = chips_[c];
  Concern concern{Time::max()};
  if (late_launches()) concern.time = agenda_.time_apart(first_late_ + static_cast<std::size_t>(c));
  if (chip.ended || (chip.blocked && !islands_.inner(chip.at->stream))) return concern;
  if (chip.blocked) return {concern.time == Time::max() ? least_work(c) : Time{}, true};
  const Time end = agenda_.time_apart(static_cast<std::size_t>(c));
  if (end == Time::max()) return concern;
  const Time work = least_work(c);
  if (end + work >= concern.time) return concern;
  if (more_may_start(c)) return {end + work - kRounding, false, true};
  return {end + work};
}

// Whether an operation of the chip's group may start beside what it computes.
bool Simulation::more_may_start(std::int32_t c) {
  const int program = chips_[c].program;
  for (const Lane& lane : lanes_.lists().lanes_of(program)) {
    if (!islands_.inner(lane.stream)) continue;
    const std::int32_t unfinished = lane_of(c, lane.stream).unfinished;
    if (unfinished > 1) return true;
    if (unfinished == 1 && !meetings_[lanes_.meeting(c, lanes_.first(c, program, lane.stream))].running)
      return true;
  }
  return false;
}

// When an island has to be taken on at the latest for a chip that goes on now, and for those that wait for
// it.
Time Simulation::concern_after_wait(std::int32_t c) {
  const std::int32_t island = islands_.of_chip[c];
  const Time concern = now_ + std::min(least_work(c), after_event_[island]);
  return std::min(concern, std::max(now_, rounded_[island]));
}

// How long the chip computes at least before it concerns others, after what it is at.
Time Simulation::least_work(std::int32_t c) {
  return computation_.least_length(c, chips_[c].at, lookahead_.after(chips_[c]));
}

bool Simulation::may_share_links(std::int32_t island) const {
  const std::span<const std::int32_t> inner = islands_.meetings[island];
  return crossings_[island] > 0 || std::any_of(inner.begin(), inner.end(), [&](std::int32_t m) {
           return meetings_[m].running && !meetings_[m].alone;
         });
}

// All members have reached the operation. Islands that it crosses have to be at the present first: its start
// is an event.
void Simulation::start(std::int32_t m) {
  if (turn_.under_way() && !islands_.shared(m)) return start_in_turn(m);
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
  const std::span<const std::int32_t> crossed = islands_.crossed[m];
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
