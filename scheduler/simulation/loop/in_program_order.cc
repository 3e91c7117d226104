// An island taken on chip by chip, each through its program as far as all is known that it depends on.
//
// Rule. While no operation of an island shares links, all of it follows from when its chips come to its
// operations: one starts when the last member has come, and ends a fixed time later. So a chip need not wait
// for the present of the others. It goes on past a computation once it is known when all the operations start
// that it has come to, and past a wait once the end is known; the last member to come to an operation tells
// the others. Chips that all wait for each other so go on one computation at a time, the earliest first, as
// nothing of theirs can start before it ends.
// What a computation loses depends on when transfers begin and end, not on when that has come to be known; so
// times are those of events in their order. What others do to the island comes at the present, or is known
// ahead: a transfer of known times.
#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "scheduler/simulation/loop/simulation.h"

namespace podsim {

// Copies and late launches are events between two instructions, of which a chip knows nothing ahead.
bool Simulation::follow_programs() const {
  bool follows = islands_.any() && first_copy_ == first_late_ && first_late_ == first_island_;
  for (std::size_t p = 0; follows && p < system_.step.stages.size(); ++p)
    for (const Lane& lane : lanes_.lists().lanes_of(static_cast<int>(p)))
      follows = follows && (!islands_.inner(lane.stream) || Turn::follows(lane, islands_));
  return follows;
}

void Simulation::take_in_program_order(std::int32_t island) {
  const std::span<const std::int32_t> inner = islands_.meetings[island];
  const bool all_meet = std::all_of(inner.begin(), inner.end(), [&](std::int32_t m) {
    return meetings_[m].members.size() == islands_.chips[island].size();
  });
  turn_.begin(island, taken_to_[island], all_meet);
  gone_on_.add_all();
  for (const std::int32_t c : islands_.chips[island]) begin_lanes(c);
  for (;;) {
    take_notices(island);
    const Time notice = inboxes_.next_time(island);
    turn_.set_horizon(std::min(notice, present_));
    go_to_horizon();
    if (notice > present_) break;
    now_ = notice;
    heed(inboxes_.take(island));
  }
  for (const Turn::Begun& begun : turn_.begun()) {
    begun.lane->leave_until(present_);
    turn_.set_gathering(begun.place, *begun.lane, false);
  }
  computation_.foresee();
  turn_.end();
}

void Simulation::begin_lanes(std::int32_t c) {
  for (const Lane& lane : lanes_.lists().lanes_of(chips_[c].program)) {
    if (!islands_.inner(lane.stream)) continue;
    Turn::Lane& known =
        turn_.begin_lane(place_of(c), lane.stream, lane_of(c, lane.stream), lanes_.lists().operations(lane));
    if (known.running->unfinished > 0)
      turn_.set_gathering(place_of(c), known, !meetings_[lanes_.meeting(c, known.first_unknown())].running);
  }
}

// Takes the notices that leave the other chips alone, up to one that has to be heeded at its time.
void Simulation::take_notices(std::int32_t island) {
  while (inboxes_.next_time(island) <= present_) {
    const Inboxes::Notice& next = inboxes_.first(island);
    if (next.kind == Inboxes::Notice::Kind::kGoOn) {
      chips_[next.chip].since = next.at;
      turn_.resume.add(place_of(next.chip));
    } else if (next.kind == Inboxes::Notice::Kind::kStarts &&
               computation_.may_expect(next.chip, settled(next.chip))) {
      CollectiveAhead ahead;
      ahead.begin({next.at, next.edges, next.pattern, next.meeting});
      computation_.expect(next.chip, ahead, settled(next.chip));
    } else {
      return;
    }
    inboxes_.take(island);
  }
}

void Simulation::go_to_horizon() {
  for (const std::int32_t m : islands_.meetings[turn_.island()]) {
    const std::size_t slot = first_meeting_ + static_cast<std::size_t>(m);
    const Time end = agenda_.time_apart(slot);
    if (end > turn_.horizon()) continue;
    agenda_.clear(slot);
    operations_.advance(m, end);
    conclude(m, meetings_[m].started, end);
  }
  const std::span<const std::int32_t> chips = islands_.chips[turn_.island()];
  for (const std::int32_t c : chips) turn_.may_go_on.add(place_of(c));
  do {
    while (turn_.may_go_on.any()) go_on_if_known(chips[turn_.may_go_on.take_first()]);
  } while (go_on_from_launches() || go_on_with_earliest());
}

// As far as what the chip depends on is known.
void Simulation::go_on_if_known(std::int32_t c) {
  RunningChip& chip = chips_[c];
  if (computation_.under_way(c)) {
    if (!ends_by_horizon(c)) return;
    ++chip.at;
    return walk_alone(c);
  }
  if (turn_.resume.contains(place_of(c))) {
    turn_.resume.remove(place_of(c));
  } else if (turn_.held.contains(place_of(c))) {
    if (turn_.gathering(place_of(c)) > 0) return;
    turn_.held.remove(place_of(c));
  } else if (!chip.blocked || chip.at->kind != Instruction::Kind::kWait || !islands_.inner(chip.at->stream) ||
             !known_of(c, chip.at->stream).known()) {
    return;
  }
  chip.blocked = false;
  now_ = chip.since;
  walk_alone(c);
}

// A chip stops before it launches what none of the others has come to yet: where all of them get there at
// this turn, the operation is theirs together.
bool Simulation::stand(std::int32_t c, Stream stream) {
  const Turn::Lane& lane = known_of(c, stream);
  if (!turn_.all_meet() || lane.unknown() > 0 ||
      meetings_[lanes_.meeting(c, lane.first_unknown())].reached > 0)
    return false;
  chips_[c].since = now_;
  turn_.standing.add(place_of(c));
  return true;
}

// Nobody else goes on. Chips that stand go on together where they can, else each launches for itself.
bool Simulation::go_on_from_launches() {
  if (!turn_.standing.any()) return false;
  if (go_in_lockstep()) return true;
  const std::span<const std::int32_t> chips = islands_.chips[turn_.island()];
  for (Places standing = std::exchange(turn_.standing, {}); standing.any();) {
    const std::int32_t c = chips[standing.take_first()];
    now_ = chips_[c].since;
    launch_in_turn(c, (chips_[c].at++)->stream);
    advance(c);
  }
  return true;
}

// No chip knows enough to go on. Nothing starts before the earliest of them ends what it computes, or begins
// what it has come to. False where that is after the horizon.
bool Simulation::go_on_with_earliest() {
  std::int32_t earliest = -1;
  Time first = turn_.horizon();
  for (const std::int32_t c : islands_.chips[turn_.island()]) {
    const std::int32_t place = place_of(c);
    if (turn_.gathering(place) == 0) continue;
    if (!turn_.held.contains(place) && !computation_.under_way(c)) continue;
    const Time time = turn_.held.contains(place) ? chips_[c].since : computation_.foreseen_end(c);
    if (time > first || (time == first && earliest >= 0)) continue;
    first = time;
    earliest = c;
  }
  if (earliest < 0) return false;
  now_ = first;
  if (turn_.held.contains(place_of(earliest))) {
    turn_.held.remove(place_of(earliest));
    computation_.begin(earliest, now_, draw_run(earliest));
  } else {
    end_computation(earliest, first);
    ++chips_[earliest].at;
    advance(earliest);
  }
  return true;
}

// A computation that operations may slow down is not begun before it is known when they start.
bool Simulation::hold(std::int32_t c) {
  if (turn_.gathering(place_of(c)) == 0) return false;
  turn_.held.add(place_of(c));
  return true;
}

// False, and nothing done, where the computation may end after the horizon.
bool Simulation::run_in_turn(std::int32_t c, Time length) {
  return ended_in_turn(c, computation_.run(c, {now_, length, turn_.horizon()}));
}

bool Simulation::ends_by_horizon(std::int32_t c) {
  if (turn_.gathering(place_of(c)) > 0) return false;
  const Time end = computation_.foreseen_end(c);
  if (end > turn_.horizon()) return false;
  end_computation(c, end);
  return true;
}

void Simulation::end_computation(std::int32_t c, Time end) {
  ++events_;
  agenda_.clear(static_cast<std::size_t>(c));
  now_ = end;
  account_computation(c);
}

void Simulation::launch_in_turn(std::int32_t c, Stream stream) {
  Turn::Lane& lane = known_of(c, stream);
  const Time at = lane.come(now_);
  lane.launch(now_);
  if (lane.unknown() == 1) reach_in_turn(c, lane, at);
}

// The chip has come to the first operation of the lane of which it is not known when it starts.
void Simulation::reach_in_turn(std::int32_t c, Turn::Lane& lane, Time at) {
  turn_.set_gathering(place_of(c), lane, true);
  come_to(c, lane.first_unknown(), at);
}

// All members have come to the operation, which is alone: what crosses an island starts at an event of its
// own.
void Simulation::start_in_turn(std::int32_t m) {
  const Meeting& meeting = meetings_[m];
  const Time started = meeting.last_reached;
  const LoneCollective& alone = operations_.alone(m);
  CollectiveAhead ahead;
  if (!alone.edges.empty()) ahead.begin({started, alone.edges, system_.pattern_of[meeting.message], m});
  for (const std::int32_t c : meeting.members) {
    turn_.set_gathering(place_of(c), known_of(c, meeting.stream), false);
    turn_.may_go_on.add(place_of(c));
    if (!alone.edges.empty()) computation_.expect(c, ahead, settled(c));
  }
  if (const Time end = started + alone.arrival; end <= turn_.horizon()) {
    conclude(m, started, end);
  } else {
    operations_.start_alone(m, started);
  }
}

// It is known when the operation ends, and so when members come to their next one.
void Simulation::conclude(std::int32_t m, Time started, Time ended) {
  Meeting& meeting = meetings_[m];
  ++events_;
  meeting.reached = 0;
  const Ending ending{{meeting.stream, meeting.message, meeting.last, started}, ended};
  for (const std::int32_t c : meeting.members) {
    known_of(c, meeting.stream).add(ending);
    turn_.may_go_on.add(place_of(c));
  }
  for (const std::int32_t c : meeting.members)
    if (Turn::Lane& lane = known_of(c, meeting.stream); lane.unknown() > 0) reach_in_turn(c, lane, ended);
}

// False where the end of the wait is not known.
bool Simulation::wait_in_turn(std::int32_t c, const Instruction& wait, Turn::Lane& lane) {
  if (lane.over(now_, wait.pending)) return true;
  RunningChip& chip = chips_[c];
  chip.since = now_;
  while (lane.known()) {
    const Time reached = lane.running->reached;
    const Ending ending = lane.first();
    lane.leave_first();
    if (lane.running->unfinished <= wait.pending) {
      now_ = ending.at;
      accounts_.wait(c, system_.pattern_of[ending.what.message],
                     {chip.since, reached, ending.what.started, now_}, ending.what.last);
      return true;
    }
    accounts_.waited_before(c, std::max(chip.since, reached), ending.what.started);
  }
  return block(c);
}

}  // namespace podsim
