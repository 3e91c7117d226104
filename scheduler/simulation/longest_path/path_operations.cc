// Operations of longest_path_loop.h: whoever comes last decides when they start, and so when they are over.
#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "scheduler/simulation/longest_path/longest_path_loop.h"

namespace podsim {

bool LongestPathLoop::launch(std::int32_t c, const Instruction& instruction) {
  PathChip& chip = chips_[c];
  PathStream& stream = chip.streams[static_cast<std::size_t>(instruction.stream)];
  stream.trim(chip.now);
  const std::int32_t communicator = system_.communicator_of[instruction.message];
  stream.operations.push_back({.rendezvous = tables_.legs.rendezvous_of(c, instruction.stream, communicator),
                               .message = instruction.message,
                               .launched = chip.now});
  const std::size_t place = stream.operations.size() - 1;
  const Time turn = place == 0 ? chip.now : stream.operations[place - 1].end;
  if (turn != kNotKnown) reach(c, stream.operations[place], turn);
  return true;
}

bool LongestPathLoop::wait(std::int32_t c, const Instruction& instruction) {
  if (copies(instruction.stream)) return true;  // there are none
  PathChip& chip = chips_[c];
  PathStream& stream = chip.streams[static_cast<std::size_t>(instruction.stream)];
  stream.trim(chip.now);
  const auto unfinished = static_cast<std::int32_t>(stream.operations.size());
  if (unfinished <= instruction.pending) return true;
  const std::int32_t awaited = unfinished - instruction.pending - 1;
  const PathOperation& operation = stream.operations[static_cast<std::size_t>(awaited)];
  if (operation.end != kNotKnown) {
    end_wait(c, operation);
    return true;
  }
  chip.status = Status::kWaiting;
  chip.stream = instruction.stream;
  chip.awaited = awaited;
  return false;
}

// The chip goes on from the end of the operation, which may have been before it came, ahead of the present.
void LongestPathLoop::end_wait(std::int32_t c, const PathOperation& operation) {
  PathChip& chip = chips_[c];
  if (operation.end <= chip.now) return;
  if (point_to_point(operation.message)) {
    state_.accounts.spend(c, Bucket::kBubble, chip.now, operation.end, "send to a stage");
  } else {
    state_.accounts.wait(c, system_.pattern_of[operation.message],
                         {chip.now, operation.reached, operation.started, operation.end}, operation.last);
  }
  chip.now = operation.end;
}

bool LongestPathLoop::receive(std::int32_t c, Stream stream) {
  PathChip& chip = chips_[c];
  PathStream& from = chip.streams[static_cast<std::size_t>(stream)];
  if (from.empty()) {
    chip.status = Status::kReceiving;
    chip.stream = stream;
    return false;
  }
  if (const Time arrival = from.take_first(); arrival > chip.now) {
    state_.accounts.spend(c, Bucket::kBubble, chip.now, arrival, "wait for a stage");
    chip.now = arrival;
  }
  chip.host = chip.met = chip.now;
  return true;
}

void LongestPathLoop::reach(std::int32_t c, PathOperation& operation, Time at) {
  operation.reached = at;
  const std::int32_t m = operation.rendezvous;
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  PODSIM_CHECK(rendezvous.reached == 0 || rendezvous.message == operation.message,
               "members issue the same operations in the same order");
  rendezvous.message = operation.message;
  if (rendezvous.reached == 0 || rendezvous.last_reached < at ||
      (rendezvous.last_reached == at &&
       state_.chips[c].degradation < state_.chips[rendezvous.last].degradation)) {
    rendezvous.last = c;
    rendezvous.last_reached = at;
  }
  const std::size_t needed = point_to_point(operation.message) ? 1 : rendezvous.members.size();
  if (static_cast<std::size_t>(++rendezvous.reached) == needed) start(m);
}

// When its last member has come, which may be behind the present.
void LongestPathLoop::start(std::int32_t m) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  if (known_ahead(m)) {
    start_ahead(m, tables_.uncontended[tables_.uncontended.find(rendezvous.group, rendezvous.message)]);
  } else if (rendezvous.last_reached > state_.now) {
    ahead_[m].waiting = true;
    state_.event_queue.set(state_.slots.of_rendezvous(m), rendezvous.last_reached);
  } else {
    state_.accounts.start(m);
    operations_.start(m, state_.now);
  }
}

// Transfers that a chip receives on one stream from several others are taken as they come.
bool LongestPathLoop::known_ahead(std::int32_t m) {
  const Rendezvous& rendezvous = state_.all_rendezvous[m];
  const auto run = static_cast<std::size_t>(tables_.uncontended.find(rendezvous.group, rendezvous.message));
  if (known_.size() <= run) known_.resize(run + 1, kNotLooked);
  if (known_[run] == kNotLooked)
    known_[run] = tables_.uncontended[static_cast<std::int32_t>(run)].ends &&
                  tables_.legs.exclusive(rendezvous.group, rendezvous.stream, rendezvous.message) &&
                  (!point_to_point(rendezvous.message) || only_source(m));
  return known_[run] != 0;
}

bool LongestPathLoop::only_source(std::int32_t m) const {
  const Rendezvous& source = state_.all_rendezvous[m];
  for (std::size_t other = 0; other < state_.all_rendezvous.size(); ++other) {
    const Rendezvous& each = state_.all_rendezvous[other];
    if (static_cast<std::int32_t>(other) != m && each.stream == source.stream && each.members.size() == 2 &&
        each.members[1] == source.members[1])
      return false;
  }
  return true;
}

void LongestPathLoop::start_ahead(std::int32_t m, const UncontendedCollective& collective) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  const Time begin = rendezvous.last_reached, end = begin + collective.arrival;
  rendezvous.started = begin;
  state_.accounts.start(m);
  ++state_.events;
  ++started_ahead_;
  ahead_[m].end = end;
  last_start_ = std::max(last_start_, begin);
  const KnownCollective known{begin, collective.edges, system_.pattern_of[rendezvous.message], m};
  for (const std::int32_t c : rendezvous.members) start_known(c, known, begin);
  complete(m, end);
}

// The event of the rendezvous's slot.
void LongestPathLoop::operate(std::int32_t m) {
  if (std::exchange(ahead_[m].waiting, false)) return start(m);
  ++state_.events;
  if (operations_.advance(m, state_.now)) complete(m, state_.now);
}

void LongestPathLoop::complete(std::int32_t m, Time end) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  const Ended ended{rendezvous.stream, rendezvous.message, rendezvous.last, rendezvous.started};
  rendezvous.reached = 0;
  const Members& members = rendezvous.members;
  if (point_to_point(ended.message)) {
    arrive(members[1], ended.stream, end);
    leave(members[0], ended, end);
  } else {
    for (const std::int32_t c : members) leave(c, ended, end);
  }
}

// The first operation of the stream of which this is not known is over then.
void LongestPathLoop::leave(std::int32_t c, const Ended& ended, Time end) {
  PathChip& chip = chips_[c];
  std::vector<PathOperation>& operations = chip.streams[static_cast<std::size_t>(ended.stream)].operations;
  const auto operation = std::ranges::find(operations, kNotKnown, &PathOperation::end);
  PODSIM_CHECK(operation != operations.end(), "what ends has been launched");
  operation->last = ended.last;
  operation->started = ended.started;
  operation->end = end;
  const auto place = static_cast<std::int32_t>(operation - operations.begin());
  if (chip.status == Status::kWaiting && chip.stream == ended.stream && chip.awaited == place) {
    end_wait(c, *operation);
    ++chip.at;
    resume_later(c);
  }
  if (operation + 1 != operations.end()) reach(c, *(operation + 1), std::max(end, (operation + 1)->launched));
}

void LongestPathLoop::arrive(std::int32_t c, Stream stream, Time at) {
  PathChip& chip = chips_[c];
  chip.streams[static_cast<std::size_t>(stream)].arrivals.push_back(at);
  if (chip.status == Status::kReceiving && chip.stream == stream) resume_later(c);
}

// ---- What drains beside computations

void LongestPathLoop::start_known(std::int32_t c, const KnownCollective& known, Time) {
  if (program_of(c).interference == 0 || known.edges.empty()) return;
  for (std::size_t e = 0; e + 1 < known.edges.size(); e += 2)
    chips_[c].beside.push_back({known.start + known.edges[e].after, known.start + known.edges[e + 1].after,
                                known.pattern, known.rendezvous});
  foresee_anew(c, known.start + known.edges.front().after);
}

void LongestPathLoop::forget_known(std::int32_t c, std::int32_t m, bool, Time now) {
  std::vector<DrainBeside>& beside = chips_[c].beside;
  std::erase_if(beside, [&](const DrainBeside& each) { return each.rendezvous == m && each.begin >= now; });
  for (DrainBeside& each : beside) {
    if (each.rendezvous != m) continue;
    each.rendezvous = -1;
    if (each.end > now) each.end = Time::max();
  }
  foresee_anew(c, now);
}

void LongestPathLoop::change_transfers(std::int32_t c, std::int32_t pattern, int difference, Time now) {
  if (program_of(c).interference == 0) return;
  std::vector<DrainBeside>& beside = chips_[c].beside;
  if (difference > 0) {
    beside.push_back({now, Time::max(), pattern});
  } else {
    const auto open = std::ranges::find_if(
        beside, [&](const DrainBeside& each) { return each.pattern == pattern && each.end == Time::max(); });
    PODSIM_CHECK(open != beside.end(), "what ends has begun");
    open->end = now;
  }
  foresee_anew(c, now);
}

// Something else drains beside the chip from then on.
void LongestPathLoop::foresee_anew(std::int32_t c, Time from) {
  const PathChip& chip = chips_[c];
  if (chip.status == Status::kComputing && from < chip.now + chip.outcome->length) foresee(c);
}

}  // namespace podsim
