// One chip after another, each as far as it can.
#include "scheduler/simulation/longest_path/sweep.h"

#include <algorithm>
#include <tuple>

#include "engine/check.h"

namespace podsim::longest_path {

Sweep::Sweep(const System& system, const SharedSlots& slots, const std::vector<Program>& programs,
             bool server)
    : system_(system),
      slots_(slots),
      programs_(programs),
      gatherings_(system.groups.size() * kNetworkStreams),
      started_(slots.size()),
      busy_(gatherings_.size()) {
  PODSIM_CHECK(programs.size() == system.chips.size(), "every class of chips has a program");
  for (const CollectiveCall& message : system.step.messages) between_.push_back(message.scope.neighbour != 0);
  if (server) server_.emplace(system);
  for (std::size_t c = 0; c < system.chips.size(); ++c)
    chips_.emplace_back(system, slots, programs[c], system.step.stages[system.chips[c].program]);
}

bool Sweep::run() {
  for (std::size_t c = chips_.size(); c-- > 0;) enqueue(static_cast<std::int32_t>(c));
  do follow_all();
  while (end_next());
  return end_step();
}

void Sweep::follow_all() {
  while (!runnable_.empty()) {
    const std::int32_t c = runnable_.back();
    runnable_.pop_back();
    chips_[c].queued = false;
    follow(c);
    complete_all();
  }
}

// What happens next: on shared links, or a chip is done with what it has taken up. False where nothing does.
bool Sweep::end_next() {
  while (!ends_.empty() &&
         (!chips_[ends_.top().chip].working() || chips_[ends_.top().chip].end() != ends_.top().time))
    ends_.pop();
  const Time served = server_ ? server_->next() : Time::max();
  if (served < Time::max() && (ends_.empty() || served <= ends_.top().time)) {
    serve(served);
    return true;
  }
  if (ends_.empty()) return false;
  const std::int32_t c = ends_.top().chip;
  ends_.pop();
  chips_[c].end_work();
  enqueue(c);
  return true;
}

void Sweep::serve(Time now) {
  const LinkServer::Instant& instant = server_->advance(now);
  for (const std::int32_t slot : instant.drained)
    for (const std::int32_t c : members_of(slot)) chips_[c].end_drain(slot, now);
  for (const std::int32_t slot : instant.began) drain(slot, now, Time::max());
  for (const std::int32_t slot : instant.drained)
    for (const std::int32_t c : members_of(slot)) foresee(c);
  for (const std::int32_t slot : instant.ended) completions_.push_back({slot, now});
  complete_all();
}

bool Sweep::end_step() {
  for (const PathChip& chip : chips_) {
    PODSIM_CHECK(chip.over, "the step has stopped: chips wait for each other");
    step_end_ = std::max(step_end_, chip.now);
  }
  bool ends = !mixed_;
  for (PathChip& chip : chips_) {
    chip.accounts.book(Bucket::kPeerWait, step_end_ - chip.now);
    for (const Lane& lane : chip.lanes) ends = ends && lane.idle(step_end_);
  }
  return ends;
}

void Sweep::follow(std::int32_t c) {
  PathChip& chip = chips_[c];
  if (chip.over || chip.working()) return;
  chip.blocked = PathChip::Blocked::kNo;
  for (;;) {
    while (chip.at == chip.after)
      if (!chip.next_segment()) {
        chip.over = true;
        return;
      }
    ++moves_;
    const Move& move = *chip.at++;
    if (move.kind == Move::Kind::kStretch || move.kind == Move::Kind::kWork) {
      if (!take_up(c, chip, move)) return;
    } else if (!carry_out(c, chip, move)) {
      --chip.at;
      return;
    }
  }
}

// False where the chip is at it until something else has happened.
bool Sweep::take_up(std::int32_t c, PathChip& chip, const Move& move) {
  if (move.kind == Move::Kind::kWork) {
    chip.begin_work(move);
  } else if (!chip.begin_stretch(move.message)) {
    return true;
  }
  if (programs_[c].interference > 0) {
    ends_.push({chip.end(), c});
    return false;
  }
  chip.end_work();
  return true;
}

// False where the chip has to wait for what is not known.
bool Sweep::carry_out(std::int32_t c, PathChip& chip, const Move& move) {
  switch (move.kind) {
    case Move::Kind::kPause:
      chip.pause_until(chip.now + move.length, move.bucket);
      return true;
    case Move::Kind::kLaunch:
      launch(c, chip, move);
      return true;
    case Move::Kind::kWait:
      return wait(c, chip, move);
    case Move::Kind::kReceive:
      return receive(chip, move);
    case Move::Kind::kInput:
      chip.pause_until(chip.input, move.bucket);
      return true;
    case Move::Kind::kHost:
      chip.host = chip.host + move.length;
      if (programs_[c].lead < Time::max()) chip.host = std::max(chip.host, chip.now - programs_[c].lead);
      chip.pause_until(chip.host, move.bucket);
      return true;
    case Move::Kind::kSynchronise:
      chip.host = chip.now;
      return true;
    case Move::Kind::kWork:
    case Move::Kind::kStretch:
      break;
  }
  return true;
}

// Rules 7 and 14 of simulate.h.
bool Sweep::wait(std::int32_t c, PathChip& chip, const Move& move) {
  Lane& lane = chip.lane(move.stream);
  const std::int64_t target = lane.launched - move.pending;
  if (target <= lane.passed) return true;
  if (target > lane.known) {
    chip.blocked = PathChip::Blocked::kWait;
    chip.stream = move.stream;
    chip.target = target;
    return false;
  }
  lane.passed = target;
  const Ended& operation = lane.at(target - 1);
  if (operation.end <= chip.now) return true;
  if (between_stages(operation.message)) {
    chip.accounts.book(Bucket::kBubble, operation.end - chip.now);
  } else {
    const Time turn = std::max(chip.now, operation.turn), started = std::max(turn, operation.started);
    const Time communicated = (turn - chip.now) + (operation.end - started);
    chip.accounts.book(Bucket::kCommunication, communicated);
    chip.accounts.book(Bucket::kPeerWait, started - turn);
    chip.accounts.exposed[system_.pattern_of[operation.message]] += communicated;
    chip.accounts.waited += started - turn;
    chips_[operation.last].accounts.caused_ps += Int128{system_.chips[c].chips} * (started - turn).ps;
  }
  chip.now = operation.end;
  return true;
}

bool Sweep::receive(PathChip& chip, const Move& move) {
  Lane& lane = chip.lane(move.stream);
  if (lane.received == lane.arrivals.size()) {
    chip.blocked = PathChip::Blocked::kReceive;
    chip.stream = move.stream;
    return false;
  }
  chip.pause_until(lane.arrivals[lane.received++], Bucket::kBubble);
  chip.host = chip.now;
  return true;
}

void Sweep::launch(std::int32_t c, PathChip& chip, const Move& move) {
  Lane& lane = chip.lane(move.stream);
  ++lane.launched;
  lane.pending.push_back({move.message, move.group, chip.now});
  if (lane.pending.size() > lane.first_pending + 1) return;
  lane.turn = std::max(chip.now, lane.last_end);
  reach(c, move.stream, lane);
}

// Rule 9: the first operation of the lane that is pending has come to its turn.
void Sweep::reach(std::int32_t c, Stream stream, const Lane& lane) {
  const Lane::Pending& operation = lane.pending[lane.first_pending];
  const std::int32_t slot = slot_of(operation.group, stream);
  Gathering& gathering = gatherings_[slot];
  PODSIM_CHECK(gathering.reached == 0 || gathering.message == operation.message,
               "members issue the same operations in the same order");
  if (gathering.reached == 0 || gathering.started < lane.turn ||
      (gathering.started == lane.turn && slower(c, gathering.last))) {
    gathering.last = c;
    gathering.started = lane.turn;
  }
  gathering.message = operation.message;
  const std::size_t needed =
      between_stages(operation.message) ? 1 : system_.groups[operation.group].members.size();
  if (static_cast<std::size_t>(++gathering.reached) == needed) start(slot, operation.group);
}

bool Sweep::slower(std::int32_t a, std::int32_t b) const {
  const ChipClass &x = system_.chips[a], &y = system_.chips[b];
  return std::tie(x.speed, x.program, x.chance, a) < std::tie(y.speed, y.program, y.chance, b);
}

void Sweep::start(std::int32_t slot, std::int32_t group) {
  const Gathering& operation = gatherings_[slot];
  ++started_[slots_.index(group, operation.message)];
  const LoneTimes& lone = slots_.lone(group, operation.message);
  if (slots_.shares(slot)) {
    if (server_) return server_->start(slot, operation.message, operation.started);
    if (!lone.drains.empty())
      busy_[slot].emplace_back(operation.started + lone.drains.front().first,
                               operation.started + lone.drains.back().second);
  }
  for (const auto& [begin, end] : lone.drains)
    drain(slot, operation.started + begin, operation.started + end);
  completions_.push_back({slot, operation.started + lone.arrival});
}

// A transfer of the slot's operation is on its members' links.
void Sweep::drain(std::int32_t slot, Time begin, Time end) {
  for (const std::int32_t c : members_of(slot)) {
    if (programs_[c].interference == 0) continue;
    chips_[c].add_drain({{begin, end, system_.pattern_of[gatherings_[slot].message]}, slot});
    if (chips_[c].working() && begin < chips_[c].end()) foresee(c);
  }
}

void Sweep::foresee(std::int32_t c) {
  PathChip& chip = chips_[c];
  if (!chip.working()) return;
  const Time before = chip.end();
  if (!chip.foresee()) {
    enqueue(c);
  } else if (chip.end() != before) {
    ends_.push({chip.end(), c});
  }
}

void Sweep::complete_all() {
  while (!completions_.empty()) {
    const Completion completion = completions_.back();
    completions_.pop_back();
    complete(completion.slot, completion.end);
  }
}

// Rule 11.
void Sweep::complete(std::int32_t slot, Time end) {
  const Gathering operation = gatherings_[slot];
  PODSIM_CHECK(operation.reached > 0, "what ends was reached");
  gatherings_[slot].reached = 0;
  const auto stream = static_cast<Stream>(slot % kNetworkStreams);
  const std::vector<std::int32_t>& members = system_.groups[slot / kNetworkStreams].members;
  if (!between_stages(operation.message)) {
    for (const std::int32_t c : members) leave(c, stream, operation, end);
    return;
  }
  Lane& to = chips_[members[1]].lane(stream);
  mixed_ = mixed_ || (to.source >= 0 && to.source != slot);
  to.source = slot;
  to.arrivals.push_back(end);
  if (chips_[members[1]].blocked == PathChip::Blocked::kReceive && chips_[members[1]].stream == stream)
    enqueue(members[1]);
  leave(members[0], stream, operation, end);
}

void Sweep::leave(std::int32_t c, Stream stream, const Gathering& operation, Time end) {
  PathChip& chip = chips_[c];
  Lane& lane = chip.lane(stream);
  PODSIM_CHECK(lane.first_pending < lane.pending.size(), "what ends was launched");
  lane.at(lane.known++) = {end, lane.turn, operation.started, operation.last, operation.message};
  lane.last_end = end;
  if (++lane.first_pending == lane.pending.size()) {
    lane.pending.clear();
    lane.first_pending = 0;
  } else {
    lane.turn = std::max(end, lane.pending[lane.first_pending].launched);
    reach(c, stream, lane);
  }
  if (chip.blocked == PathChip::Blocked::kWait && chip.stream == stream && chip.target <= lane.known)
    enqueue(c);
}

// In a meeting each slot's times follow one another.
bool Sweep::all_alone() const {
  PODSIM_CHECK(!server_, "what shares links is not alone");
  std::vector<std::pair<Time, Time>> times;
  for (const std::vector<std::int32_t>& meeting : slots_.meetings()) {
    times.clear();
    for (const std::int32_t slot : meeting) {
      const auto before = static_cast<std::ptrdiff_t>(times.size());
      times.insert(times.end(), busy_[slot].begin(), busy_[slot].end());
      std::inplace_merge(times.begin(), times.begin() + before, times.end());
    }
    for (std::size_t i = 1; i < times.size(); ++i)
      if (times[i].first < times[i - 1].second) return false;
  }
  return true;
}

}  // namespace podsim::longest_path
