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
#include <iterator>

#include "scheduler/simulation/logical_processes/logical_process_loop.h"

namespace podsim {
namespace {

constexpr std::int64_t kFewEvents = 2;  // that are not worth it to look at all chips

// The end of a computation that is settled at more instants than was foreseen is rounded otherwise, and comes
// earlier by a picosecond or two for each at most. Room for half a million of them: no group has so many
// transfers.
constexpr Time kRounding{1'000'000};

}  // namespace

void LogicalProcessLoop::set_processes_apart() {
  std::vector<std::vector<std::size_t>> slots(processes_.chips.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].assign(processes_.chips[i].begin(), processes_.chips[i].end());
    for (const std::int32_t m : processes_.all_rendezvous[i])
      slots[i].push_back(state_.slots.of_rendezvous(m));
    for (const std::int32_t c : processes_.chips[i]) {
      for (const Stream stream : {Stream::kToHost, Stream::kFromHost})
        if (state_.slots.any_copies()) slots[i].push_back(state_.copies.slot_of({c, stream}));
      if (state_.slots.any_late()) slots[i].push_back(state_.slots.of_late(c));
    }
  }
  state_.event_queue.set_apart(slots);
}

void LogicalProcessLoop::take_to_present(std::int32_t process) {
  const bool by_programs = ahead_ && !may_share_links(process);
  const bool many =
      by_programs && state_.event_queue.due(static_cast<std::size_t>(process), present_) > kFewEvents;
  if (many || !take_in_order_of_time(process, by_programs ? kFewEvents : INT64_MAX))
    take_in_program_order(process);
  taken_to_[process] = state_.now = present_;
  mailboxes_.wake_at(process, next_output(process));
}

bool LogicalProcessLoop::take_in_order_of_time(std::int32_t process, std::int64_t most_events) {
  const auto part = static_cast<std::size_t>(process);
  const std::int64_t stop = most_events == INT64_MAX ? most_events : state_.events + most_events;
  mailboxes_.enter(process);
  for (;;) {
    computation_.foresee();
    const auto [time, slot] = state_.event_queue.next(part);
    const Time event{time}, message = mailboxes_.next_time(process);
    if (std::min(event, message) > present_) break;
    if (state_.events == stop) {
      mailboxes_.leave();
      return false;
    }
    state_.now = std::min(event, message);
    if (message > event) {
      state_.event_queue.clear(slot);
      state_.slots.is_chip(slot) ? gone_on_.add(place_of(static_cast<std::int32_t>(slot)))
                                 : gone_on_.add_all();
      happen(slot);
    } else {
      heed(mailboxes_.take(process));
    }
  }
  mailboxes_.leave();
  return true;
}

// The logical process is at its time.
void LogicalProcessLoop::heed(const LpMailboxes::LpMessage& message) {
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

void LogicalProcessLoop::take_all_to_present() {
  for (std::size_t i = 0; i < processes_.chips.size(); ++i) take_to_present(static_cast<std::int32_t>(i));
}

// When the logical process has to be taken on at the latest, as far as it is known. REQUIRES: it is at the
// present. Only chips that have gone on are looked at: others concern nobody before the time that was found
// for them.
Time LogicalProcessLoop::next_output(std::int32_t process) {
  if (const Time message = mailboxes_.next_time(process); message < Time::max()) return message;
  const Time event{state_.event_queue.next(static_cast<std::size_t>(process)).time};
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

EarliestOutput LogicalProcessLoop::earliest_output_of(std::int32_t c) {
  const RunningChip& chip = state_.chips[c];
  EarliestOutput earliest{Time::max()};
  if (state_.slots.any_late()) earliest.time = state_.event_queue.time_apart(state_.slots.of_late(c));
  if (chip.ended || (chip.blocked && !processes_.inner(chip.at->stream))) return earliest;
  if (chip.blocked) return {earliest.time == Time::max() ? least_work(c) : Time{}, true};
  const Time end = state_.event_queue.time_apart(static_cast<std::size_t>(c));
  if (end == Time::max()) return earliest;
  const Time work = least_work(c);
  if (end + work >= earliest.time) return earliest;
  if (more_may_start(c)) return {end + work - kRounding, false, true};
  return {end + work};
}

// Whether an operation of the chip's group may start beside what it computes.
bool LogicalProcessLoop::more_may_start(std::int32_t c) {
  const int program = state_.chips[c].program;
  for (const StreamList& queue : state_.queues.lists().lists_of(program)) {
    if (!processes_.inner(queue.stream)) continue;
    const std::int32_t unfinished = state_.queue_of(c, queue.stream).unfinished;
    if (unfinished > 1) return true;
    if (unfinished == 1 &&
        !state_.all_rendezvous[state_.queues.rendezvous(c, state_.queues.first(c, program, queue.stream))]
             .running)
      return true;
  }
  return false;
}

// When a logical process has to be taken on at the latest for a chip that goes on now, and for those that
// wait for it.
Time LogicalProcessLoop::output_after_wait(std::int32_t c) {
  const std::int32_t process = processes_.of_chip[c];
  const Time earliest = state_.now + std::min(least_work(c), after_event_[process]);
  return std::min(earliest, std::max(state_.now, rounded_[process]));
}

// How long the chip computes at least before it concerns others, after what it is at.
Time LogicalProcessLoop::least_work(std::int32_t c) {
  return computation_.least_length(c, state_.chips[c].at, lookahead_.after(state_.chips[c]));
}

bool LogicalProcessLoop::may_share_links(std::int32_t process) const {
  const std::span<const std::int32_t> inner = processes_.all_rendezvous[process];
  return crossings_[process] > 0 || std::any_of(inner.begin(), inner.end(), [&](std::int32_t m) {
           return state_.all_rendezvous[m].running && !state_.all_rendezvous[m].alone;
         });
}

// All members have reached the operation. Logical processes that it crosses have to be at the present first:
// its start is an event.
void LogicalProcessLoop::start(std::int32_t m) {
  if (lp_advance_.under_way() && !processes_.shared(m)) return start_ahead(m);
  if (processes_.crossed[m].empty()) return operations_.start(m, state_.now);
  state_.event_queue.set(state_.slots.of_rendezvous(m), state_.now);
  ++to_start_;
}

// Whether the event of the slot is such a start, which it then is.
bool LogicalProcessLoop::starts(std::size_t slot) {
  if (!state_.slots.is_rendezvous(slot)) return false;
  const std::int32_t m = state_.slots.rendezvous(slot);
  if (state_.all_rendezvous[m].running) return false;
  --to_start_;
  const std::span<const std::int32_t> crossed = processes_.crossed[m];
  for (const std::int32_t process : crossed) take_to_present(process);
  operations_.start(m, state_.now);
  for (const std::int32_t process : crossed) {
    ++crossings_[process];
    mailboxes_.wake_at(process, next_output(process));
  }
  return true;
}

void LogicalProcessLoop::operate(std::int32_t m) {
  if (!operations_.advance(m, state_.now)) return;
  for (const std::int32_t process : processes_.crossed[m]) --crossings_[process];
  complete(m);
}

// What has drained of a logical process arrives later, for which it is taken on.
void LogicalProcessLoop::drain() {
  const std::span<const std::int32_t> drained = operations_.drain(state_.now);
  state_.events += std::ssize(drained);
  for (const std::int32_t m : drained) {
    if (processes_.shared(m)) continue;
    const Time arrival = state_.event_queue.time_apart(state_.slots.of_rendezvous(m));
    mailboxes_.wake_by(processes_.of_rendezvous[m], arrival);
  }
}

void LogicalProcessLoop::begin_program(std::int32_t c) {
  mailboxes_.at_present(c) ? advance(c) : mailboxes_.go_on(c, state_.now, state_.now);
}

void LogicalProcessLoop::resume(std::int32_t c) {
  mailboxes_.at_present(c) ? advance(c) : mailboxes_.go_on(c, state_.now, output_after_wait(c));
}

}  // namespace podsim
