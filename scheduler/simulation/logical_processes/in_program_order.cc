// A logical process taken on chip by chip, each through its program as far as all is known that it depends
// on.
//
// Rule. While no operation of a logical process shares links, all of it follows from when its chips come to
// its operations: one starts when the last member has come, and ends a fixed time later. So a chip need not
// wait for the present of the others. It goes on past a computation once it is known when all the operations
// start that it has come to, and past a wait once the end is known; the last member to come to an operation
// tells the others. Chips that all wait for each other so go on one computation at a time, the earliest
// first, as nothing of theirs can start before it ends. What a computation loses depends on when transfers
// begin and end, not on when that has come to be known; so times are those of events in their order. What
// others do to the logical process comes at the present, or is known ahead: a transfer of known times.
#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "scheduler/simulation/logical_processes/logical_process_loop.h"

namespace podsim {

// Copies and late launches are events between two instructions, of which a chip knows nothing ahead.
bool LogicalProcessLoop::follow_programs() const {
  bool follows = !state_.slots.any_copies() && !state_.slots.any_late();
  for (std::size_t p = 0; follows && p < state_.system.step.stages.size(); ++p)
    for (const StreamList& queue : state_.queues.lists().lists_of(static_cast<int>(p)))
      follows = follows && (!processes_.inner(queue.stream) || LpAdvance::follows(queue, processes_));
  return follows;
}

void LogicalProcessLoop::take_in_program_order(std::int32_t process) {
  const std::span<const std::int32_t> inner = processes_.all_rendezvous[process];
  const bool all_meet = std::all_of(inner.begin(), inner.end(), [&](std::int32_t m) {
    return state_.all_rendezvous[m].members.size() == processes_.chips[process].size();
  });
  lp_advance_.begin(process, taken_to_[process], all_meet);
  gone_on_.add_all();
  for (const std::int32_t c : processes_.chips[process]) begin_queues(c);
  for (;;) {
    take_messages(process);
    const Time message = mailboxes_.next_time(process);
    lp_advance_.set_horizon(std::min(message, present_));
    go_to_horizon();
    if (message > present_) break;
    state_.now = message;
    heed(mailboxes_.take(process));
  }
  for (const LpAdvance::Begun& begun : lp_advance_.begun()) {
    begun.queue->leave_until(present_);
    lp_advance_.set_gathering(begun.place, *begun.queue, false);
  }
  computation_.foresee();
  lp_advance_.end();
}

void LogicalProcessLoop::begin_queues(std::int32_t c) {
  for (const StreamList& queue : state_.queues.lists().lists_of(state_.chips[c].program)) {
    if (!processes_.inner(queue.stream)) continue;
    LpAdvance::KnownEndings& known = lp_advance_.begin_queue(
        place_of(c), queue.stream, state_.queue_of(c, queue.stream), state_.queues.lists().operations(queue));
    if (known.running->unfinished > 0)
      lp_advance_.set_gathering(
          place_of(c), known,
          !state_.all_rendezvous[state_.queues.rendezvous(c, known.first_unknown())].running);
  }
}

// Takes the messages that leave the other chips alone, up to one that has to be heeded at its time.
void LogicalProcessLoop::take_messages(std::int32_t process) {
  while (mailboxes_.next_time(process) <= present_) {
    const LpMailboxes::LpMessage& next = mailboxes_.first(process);
    if (next.kind == LpMailboxes::LpMessage::Kind::kGoOn) {
      state_.chips[next.chip].since = next.at;
      lp_advance_.resume.add(place_of(next.chip));
    } else if (next.kind == LpMailboxes::LpMessage::Kind::kStarts &&
               computation_.may_expect(next.chip, settled(next.chip))) {
      CollectiveAhead ahead;
      ahead.begin({next.at, next.edges, next.pattern, next.rendezvous});
      computation_.expect(next.chip, ahead, settled(next.chip));
    } else {
      return;
    }
    mailboxes_.take(process);
  }
}

void LogicalProcessLoop::go_to_horizon() {
  for (const std::int32_t m : processes_.all_rendezvous[lp_advance_.process()]) {
    const std::size_t slot = state_.slots.of_rendezvous(m);
    const Time end = state_.event_queue.time_apart(slot);
    if (end > lp_advance_.horizon()) continue;
    state_.event_queue.clear(slot);
    operations_.advance(m, end);
    conclude(m, state_.all_rendezvous[m].started, end);
  }
  const std::span<const std::int32_t> chips = processes_.chips[lp_advance_.process()];
  for (const std::int32_t c : chips) lp_advance_.may_go_on.add(place_of(c));
  do {
    while (lp_advance_.may_go_on.any()) go_on_if_known(chips[lp_advance_.may_go_on.take_first()]);
  } while (go_on_from_launches() || go_on_with_earliest());
}

// As far as what the chip depends on is known.
void LogicalProcessLoop::go_on_if_known(std::int32_t c) {
  RunningChip& chip = state_.chips[c];
  if (computation_.under_way(c)) {
    if (!ends_by_horizon(c)) return;
    ++chip.at;
    return walk_alone(c);
  }
  if (lp_advance_.resume.contains(place_of(c))) {
    lp_advance_.resume.remove(place_of(c));
  } else if (lp_advance_.held.contains(place_of(c))) {
    if (lp_advance_.gathering(place_of(c)) > 0) return;
    lp_advance_.held.remove(place_of(c));
  } else if (!chip.blocked || chip.at->kind != Instruction::Kind::kWait ||
             !processes_.inner(chip.at->stream) || !known_of(c, chip.at->stream).known()) {
    return;
  }
  chip.blocked = false;
  state_.now = chip.since;
  walk_alone(c);
}

// A chip stops before it launches what none of the others has come to yet: where all of them get there at
// this turn, the operation is theirs together.
bool LogicalProcessLoop::stand(std::int32_t c, Stream stream) {
  const LpAdvance::KnownEndings& queue = known_of(c, stream);
  if (!in_lockstep() || queue.unknown() > 0 ||
      state_.all_rendezvous[state_.queues.rendezvous(c, queue.first_unknown())].reached > 0)
    return false;
  state_.chips[c].since = state_.now;
  lp_advance_.standing.add(place_of(c));
  return true;
}

// Nobody else goes on. Chips that stand go on together where they can, else each launches for itself.
bool LogicalProcessLoop::go_on_from_launches() {
  if (!lp_advance_.standing.any()) return false;
  if (go_in_lockstep()) return true;
  const std::span<const std::int32_t> chips = processes_.chips[lp_advance_.process()];
  for (Places standing = std::exchange(lp_advance_.standing, {}); standing.any();) {
    const std::int32_t c = chips[standing.take_first()];
    state_.now = state_.chips[c].since;
    launch_ahead(c, (state_.chips[c].at++)->stream);
    advance(c);
  }
  return true;
}

// No chip knows enough to go on. Nothing starts before the earliest of them ends what it computes, or begins
// what it has come to. False where that is after the horizon.
bool LogicalProcessLoop::go_on_with_earliest() {
  std::int32_t earliest = -1;
  Time first = lp_advance_.horizon();
  for (const std::int32_t c : processes_.chips[lp_advance_.process()]) {
    const std::int32_t place = place_of(c);
    if (lp_advance_.gathering(place) == 0) continue;
    if (!lp_advance_.held.contains(place) && !computation_.under_way(c)) continue;
    const Time time = lp_advance_.held.contains(place) ? state_.chips[c].since : computation_.foreseen_end(c);
    if (time > first || (time == first && earliest >= 0)) continue;
    first = time;
    earliest = c;
  }
  if (earliest < 0) return false;
  state_.now = first;
  if (lp_advance_.held.contains(place_of(earliest))) {
    lp_advance_.held.remove(place_of(earliest));
    computation_.begin(earliest, state_.now, draw_run(earliest));
  } else {
    end_computation(earliest, first);
    ++state_.chips[earliest].at;
    advance(earliest);
  }
  return true;
}

// What a chip does at an instruction, alone or among events.
bool LogicalProcessLoop::launch(std::int32_t c, Stream stream) {
  PODSIM_CHECK(state_.now == present_ || processes_.inner(stream),
               "what is shared is launched in order of time");
  if (!taken_ahead(stream)) return Interpreter::launch(c, stream);
  if (stand(c, stream)) return false;
  launch_ahead(c, stream);
  return true;
}

bool LogicalProcessLoop::wait(std::int32_t c, const Instruction& instruction) {
  if (!taken_ahead(instruction.stream)) return Interpreter::wait(c, instruction);
  return wait_ahead(c, instruction, known_of(c, instruction.stream));
}

bool LogicalProcessLoop::compute(std::int32_t c) {
  if (!lp_advance_.under_way()) return Interpreter::compute(c);
  state_.chips[c].since = state_.now;
  if (hold(c)) return false;
  const Time length = draw_run(c);
  if (run_ahead(c, length)) return true;
  computation_.begin(c, state_.now, length);
  return ends_by_horizon(c);
}

bool LogicalProcessLoop::pause(std::int32_t c, Time length) {
  Interpreter::pause(c, length);
  return lp_advance_.under_way() && ends_by_horizon(c);
}

int LogicalProcessLoop::unfinished(std::int32_t c, Stream stream) {
  if (taken_ahead(stream)) known_of(c, stream).leave_until(state_.now);
  return Interpreter::unfinished(c, stream);
}

// A computation that operations may slow down is not begun before it is known when they start.
bool LogicalProcessLoop::hold(std::int32_t c) {
  if (lp_advance_.gathering(place_of(c)) == 0) return false;
  lp_advance_.held.add(place_of(c));
  return true;
}

// False, and nothing done, where the computation may end after the horizon.
bool LogicalProcessLoop::run_ahead(std::int32_t c, Time length) {
  return ended_ahead(c, computation_.run(c, {state_.now, length, lp_advance_.horizon()}));
}

bool LogicalProcessLoop::ends_by_horizon(std::int32_t c) {
  if (lp_advance_.gathering(place_of(c)) > 0) return false;
  const Time end = computation_.foreseen_end(c);
  if (end > lp_advance_.horizon()) return false;
  end_computation(c, end);
  return true;
}

void LogicalProcessLoop::end_computation(std::int32_t c, Time end) {
  ++state_.events;
  state_.event_queue.clear(static_cast<std::size_t>(c));
  state_.now = end;
  account_computation(c);
}

void LogicalProcessLoop::launch_ahead(std::int32_t c, Stream stream) {
  LpAdvance::KnownEndings& queue = known_of(c, stream);
  const Time at = queue.come(state_.now);
  queue.launch(state_.now);
  if (queue.unknown() == 1) reach_ahead(c, queue, at);
}

// The chip has come to the first operation of the queue of which it is not known when it starts.
void LogicalProcessLoop::reach_ahead(std::int32_t c, LpAdvance::KnownEndings& queue, Time at) {
  lp_advance_.set_gathering(place_of(c), queue, true);
  come_to(c, queue.first_unknown(), at);
}

// All members have come to the operation, which is alone: what crosses a logical process starts at an event
// of its own.
void LogicalProcessLoop::start_ahead(std::int32_t m) {
  const Rendezvous& rendezvous = state_.all_rendezvous[m];
  const Time started = rendezvous.last_reached;
  const UncontendedCollective& alone = operations_.alone(m);
  CollectiveAhead ahead;
  if (!alone.edges.empty())
    ahead.begin({started, alone.edges, state_.system.pattern_of[rendezvous.message], m});
  for (const std::int32_t c : rendezvous.members) {
    lp_advance_.set_gathering(place_of(c), known_of(c, rendezvous.stream), false);
    lp_advance_.may_go_on.add(place_of(c));
    if (!alone.edges.empty()) computation_.expect(c, ahead, settled(c));
  }
  if (const Time end = started + alone.arrival; end <= lp_advance_.horizon()) {
    conclude(m, started, end);
  } else {
    operations_.start_alone(m, started);
  }
}

// It is known when the operation ends, and so when members come to their next one.
void LogicalProcessLoop::conclude(std::int32_t m, Time started, Time ended) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  ++state_.events;
  rendezvous.reached = 0;
  const Ending ending{{rendezvous.stream, rendezvous.message, rendezvous.last, started}, ended};
  for (const std::int32_t c : rendezvous.members) {
    known_of(c, rendezvous.stream).add(ending);
    lp_advance_.may_go_on.add(place_of(c));
  }
  for (const std::int32_t c : rendezvous.members)
    if (LpAdvance::KnownEndings& queue = known_of(c, rendezvous.stream); queue.unknown() > 0)
      reach_ahead(c, queue, ended);
}

// False where the end of the wait is not known.
bool LogicalProcessLoop::wait_ahead(std::int32_t c, const Instruction& wait, LpAdvance::KnownEndings& queue) {
  if (queue.over(state_.now, wait.pending)) return true;
  RunningChip& chip = state_.chips[c];
  chip.since = state_.now;
  while (queue.known()) {
    const Time reached = queue.running->reached;
    const Ending ending = queue.first();
    queue.leave_first();
    if (queue.running->unfinished <= wait.pending) {
      state_.now = ending.at;
      state_.accounts.wait(c, state_.system.pattern_of[ending.what.message],
                           {chip.since, reached, ending.what.started, state_.now}, ending.what.last);
      return true;
    }
    state_.accounts.waited_before(c, std::max(chip.since, reached), ending.what.started);
  }
  return block(c);
}

}  // namespace podsim
