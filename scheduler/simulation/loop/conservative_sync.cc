// Logical processes one by one, each as far as the present and no further.
//
// Rule. Nothing passes between two logical processes but by shared operations. A logical process may
// therefore stay behind the present until one of its chips concerns others (lookahead.h): what others do to
// it meanwhile is noted with its time, and it goes through that and its own events in order of time when it
// is taken on. It is taken on at the earliest instant at which one of its chips may concern others, computing
// as fast as its draws allow and without transfers beside it, so never too late; what has become later is
// then foreseen anew. While an operation of the logical process may share links, all its events are in order
// of time with those of others.
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

void Simulation::set_processes_apart() {
  if (!processes_.any()) return;
  std::vector<std::vector<std::size_t>> slots(processes_.chips.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].assign(processes_.chips[i].begin(), processes_.chips[i].end());
    for (const std::int32_t m : processes_.all_rendezvous[i])
      slots[i].push_back(first_rendezvous_ + static_cast<std::size_t>(m));
    for (const std::int32_t c : processes_.chips[i]) {
      for (const Stream stream : {Stream::kToHost, Stream::kFromHost})
        if (first_copy_ < first_late_) slots[i].push_back(copies_.slot_of({c, stream}));
      if (delays_.late().any()) slots[i].push_back(first_late_ + static_cast<std::size_t>(c));
    }
  }
  event_queue_.set_apart(slots);
}

void Simulation::take_to_present(std::int32_t process) {
  const bool by_programs = ahead_ && !may_share_links(process);
  const bool many = by_programs && event_queue_.due(static_cast<std::size_t>(process), present_) > kFewEvents;
  if (many || !take_in_order_of_time(process, by_programs ? kFewEvents : INT64_MAX))
    take_in_program_order(process);
  taken_to_[process] = now_ = present_;
  mailboxes_.wake_at(process, next_output(process));
}

bool Simulation::take_in_order_of_time(std::int32_t process, std::int64_t most_events) {
  const auto part = static_cast<std::size_t>(process);
  const std::int64_t stop = most_events == INT64_MAX ? most_events : events_ + most_events;
  mailboxes_.enter(process);
  for (;;) {
    computation_.foresee();
    const auto [time, slot] = event_queue_.next(part);
    const Time event{time}, message = mailboxes_.next_time(process);
    if (std::min(event, message) > present_) break;
    if (events_ == stop) {
      mailboxes_.leave();
      return false;
    }
    now_ = std::min(event, message);
    if (message > event) {
      event_queue_.clear(slot);
      slot < first_rendezvous_ ? gone_on_.add(place_of(static_cast<std::int32_t>(slot))) : gone_on_.add_all();
      happen(slot);
    } else {
      heed(mailboxes_.take(process));
    }
  }
  mailboxes_.leave();
  return true;
}

// The logical process is at its time.
void Simulation::heed(const LpMailboxes::LpMessage& message) {
  using MessageKind = LpMailboxes::LpMessage::Kind;
  gone_on_.add(place_of(message.chip));
  switch (message.kind) {
    case MessageKind::kStarts:
      return computation_.start_known(
          message.chip, {message.at, message.edges, message.pattern, message.rendezvous}, message.at);
    case MessageKind::kForgotten:
      return computation_.forget_known(message.chip, message.rendezvous, message.draining, message.at);
    case MessageKind::kTransfers:
      return computation_.change_transfers(message.chip, message.pattern, message.difference, message.at);
    case MessageKind::kGoOn:
      return advance(message.chip);
  }
}

void Simulation::take_all_to_present() {
  for (std::size_t i = 0; i < processes_.chips.size(); ++i) take_to_present(static_cast<std::int32_t>(i));
}

// When the logical process has to be taken on at the latest, as far as it is known. REQUIRES: it is at the
// present. Only chips that have gone on are looked at: others concern nobody before the time that was found
// for them.
Time Simulation::next_output(std::int32_t process) {
  if (const Time message = mailboxes_.next_time(process); message < Time::max()) return message;
  const Time event{event_queue_.next(static_cast<std::size_t>(process)).time};
  const std::span<const std::int32_t> chips = processes_.chips[process];
  if (may_share_links(process)) {
    for (const std::int32_t c : chips) earliest_output_[c] = {};
    after_event_[process] = rounded_[process] = {};
    return event;
  }
  Time first = Time::max(), after = Time::max(), rounded = Time::max();
  for (const std::int32_t c : chips) {
    EarliestOutput& earliest = earliest_output_[c];
    if (gone_on_.contains(place_of(c)) || (!earliest.waits && earliest.time <= present_))
      earliest = earliest_output_of(c);
    if (earliest.waits) {
      after = std::min(after, earliest.time);
      continue;
    }
    if (earliest.rounded) rounded = std::min(rounded, earliest.time);
    first = std::min(first, earliest.rounded ? std::max(earliest.time, event) : earliest.time);
  }
  gone_on_.clear();
  after_event_[process] = after;
  rounded_[process] = rounded;
  if (event == Time::max() || after == Time::max()) return first;
  return std::min(first, event + std::max(Time{}, after - kRounding));
}

EarliestOutput Simulation::earliest_output_of(std::int32_t c) {
  const RunningChip& chip = chips_[c];
  EarliestOutput earliest{Time::max()};
  if (late_launches()) earliest.time = event_queue_.time_apart(first_late_ + static_cast<std::size_t>(c));
  if (chip.ended || (chip.blocked && !processes_.inner(chip.at->stream))) return earliest;
  if (chip.blocked) return {earliest.time == Time::max() ? least_work(c) : Time{}, true};
  const Time end = event_queue_.time_apart(static_cast<std::size_t>(c));
  if (end == Time::max()) return earliest;
  const Time work = least_work(c);
  if (end + work >= earliest.time) return earliest;
  if (more_may_start(c)) return {end + work - kRounding, false, true};
  return {end + work};
}

// Whether an operation of the chip's group may start beside what it computes.
bool Simulation::more_may_start(std::int32_t c) {
  const int program = chips_[c].program;
  for (const StreamList& queue : queues_.lists().lists_of(program)) {
    if (!processes_.inner(queue.stream)) continue;
    const std::int32_t unfinished = queue_of(c, queue.stream).unfinished;
    if (unfinished > 1) return true;
    if (unfinished == 1 &&
        !all_rendezvous_[queues_.rendezvous(c, queues_.first(c, program, queue.stream))].running)
      return true;
  }
  return false;
}

// When a logical process has to be taken on at the latest for a chip that goes on now, and for those that
// wait for it.
Time Simulation::output_after_wait(std::int32_t c) {
  const std::int32_t process = processes_.of_chip[c];
  const Time earliest = now_ + std::min(least_work(c), after_event_[process]);
  return std::min(earliest, std::max(now_, rounded_[process]));
}

// How long the chip computes at least before it concerns others, after what it is at.
Time Simulation::least_work(std::int32_t c) {
  return computation_.least_length(c, chips_[c].at, lookahead_.after(chips_[c]));
}

bool Simulation::may_share_links(std::int32_t process) const {
  const std::span<const std::int32_t> inner = processes_.all_rendezvous[process];
  return crossings_[process] > 0 || std::any_of(inner.begin(), inner.end(), [&](std::int32_t m) {
           return all_rendezvous_[m].running && !all_rendezvous_[m].alone;
         });
}

// All members have reached the operation. Logical processes that it crosses have to be at the present first:
// its start is an event.
void Simulation::start(std::int32_t m) {
  if (lp_advance_.under_way() && !processes_.shared(m)) return start_ahead(m);
  if (!processes_.any() || processes_.crossed[m].empty()) return operations_.start(m, now_);
  event_queue_.set(first_rendezvous_ + static_cast<std::size_t>(m), now_);
  ++to_start_;
}

// Whether the event of the slot is such a start, which it then is.
bool Simulation::starts(std::size_t slot) {
  if (slot < first_rendezvous_ || slot >= first_copy_) return false;
  const auto m = static_cast<std::int32_t>(slot - first_rendezvous_);
  if (all_rendezvous_[m].running) return false;
  --to_start_;
  const std::span<const std::int32_t> crossed = processes_.crossed[m];
  for (const std::int32_t process : crossed) take_to_present(process);
  operations_.start(m, now_);
  for (const std::int32_t process : crossed) {
    ++crossings_[process];
    mailboxes_.wake_at(process, next_output(process));
  }
  return true;
}

void Simulation::end_crossing(std::int32_t m) {
  if (!processes_.any()) return;
  for (const std::int32_t process : processes_.crossed[m]) --crossings_[process];
}

}  // namespace podsim
