// Instructions of longest_path_loop.h and operations: whoever comes last decides when they start, and so when
// they are over.
#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "scheduler/simulation/longest_path/longest_path_loop.h"

namespace podsim {

void LongestPathLoop::advance(std::int32_t c) {
  PathChip& chip = chips_[c];
  for (;;) {
    while (chip.at == chip.program->steps.size()) {
      if (!enter_segment(c, chip.position + 1)) {
        chip.status = Status::kEnded;
        --state_.jobs.front().running;
        return;
      }
    }
    if (!issue(chip, c, programs_.step(c, chip.segment, *chip.program, chip.at))) return;
    ++chip.at;
  }
}

inline bool LongestPathLoop::issue(PathChip& chip, std::int32_t number, const PathInstruction& step) {
  switch (step.kind) {
    case Instruction::Kind::kReceive:
      return receive(chip, number, step.stream);
    case Instruction::Kind::kWait:
      return wait(chip, number, step);
    case Instruction::Kind::kLaunch:
      if (step.with_peers != nullptr && begin_with_peers(number, step)) return false;
      if (step.span != nullptr && begin_span(number, step)) return false;
      if (!step.between_stages || !send(chip, number, step)) launch(chip, number, step);
      return true;
    case Instruction::Kind::kCompute:
      if (step.with_peers != nullptr && begin_with_peers(number, step)) return false;
      if (step.span == nullptr || !begin_span(number, step)) compute(number);
      return false;
    case Instruction::Kind::kHost:
      if (step.with_peers != nullptr && begin_with_peers(number, step)) return false;
      if (step.span != nullptr && begin_span(number, step)) return false;
      launch_by_host(number, step);
      return true;
    case Instruction::Kind::kPause:
      pause(number, step.bucket, step.duration);
      return true;
    case Instruction::Kind::kSynchronise:
      chip.host = chip.met = chip.now;
      return true;
    case Instruction::Kind::kInput:
      wait_for_input(number, step.bucket);
      return true;
    case Instruction::Kind::kCopy:
      break;
  }
  PODSIM_CHECK(false, "what is no copy is known");
  return false;
}

inline void LongestPathLoop::launch(PathChip& chip, std::int32_t number, const PathInstruction& step) {
  PathStream& stream = chip.streams[static_cast<std::size_t>(step.stream)];
  stream.trim(chip.now);
  std::vector<PathOperation>& operations = stream.operations;
  operations.push_back({.step = &step,
                        .rendezvous = tables_.legs.rendezvous_of(number, step.stream, step.communicator),
                        .launched = chip.now});
  if (gathering_ > 0) part_before(chip, operations.back().rendezvous);
  const std::size_t place = operations.size() - 1;
  const Time turn = place == stream.first ? chip.now : operations[place - 1].end;
  stream.quiet = {};
  if (turn != kNotKnown) reach(number, operations[place], turn);
}

// As launch() and all that follows from it, of a transfer that is known ahead, and the wait for it where that
// comes next. False where it is not.
inline bool LongestPathLoop::send(PathChip& chip, std::int32_t c, const PathInstruction& step) {
  PathStream& stream = chip.streams[static_cast<std::size_t>(step.stream)];
  stream.trim(chip.now);
  const Time turn = stream.over(chip.now);
  if (turn == kNotKnown) return false;
  const PathRun* found = run_of(stream, c, step);
  if (found == nullptr) return false;
  const PathRun& run = *found;
  const Time end = turn + run.arrival;
  if (!run.own_links && !undisturbed(run, end)) return false;
  const std::int32_t m = run.rendezvous, to = run.last_member;
  note_start(m, turn, end);
  state_.accounts.sent(c, step.stream, {turn, end});
  stream.quiet = {};
  if (step.awaited) {
    state_.accounts.spend(c, Bucket::kBubble, chip.now, end, "send to a stage");
    chip.now = end;
    ++chip.at;
  } else {
    stream.operations.push_back({&step, m, c, chip.now, turn, turn, end});
    ++stream.known;
  }
  if (run.edges.size() == 2) {
    const DrainBeside drain{turn + run.drains, turn + run.drained, run.pattern, m};
    // What has ended when the chip goes on concerns nothing that it computes.
    if (drain.end > chip.now) add_known(c, drain);
    add_known(to, drain);
  } else {
    const KnownCollective known{turn, run.edges, run.pattern, m};
    start_known(c, known, turn);
    start_known(to, known, turn);
  }
  arrive(to, step.stream, end);
  return true;
}

inline void LongestPathLoop::add_known(std::int32_t c, const DrainBeside& drain) {
  PathChip& chip = chips_[c];
  if (!chip.slowed) return;
  chip.beside.add(drain);
  if (chip.status == Status::kComputing || chip.status == Status::kTogether) foresee_anew(c, drain.begin);
}

// Null where another stream of the group had it first.
inline const PathRun* LongestPathLoop::run_of(PathStream& stream, std::int32_t c,
                                              const PathInstruction& step) {
  for (const auto& [known, run] : stream.sends)
    if (known == &step) return run;
  const std::int32_t m = tables_.legs.rendezvous_of(c, step.stream, step.communicator);
  const std::int32_t run = tables_.uncontended.find(state_.all_rendezvous[m].group, step.message);
  const PathRun& found = programs_.run(m, run, step.message);
  stream.sends[1] = std::exchange(stream.sends[0], {&step, found.rendezvous == m ? &found : nullptr});
  return stream.sends[0].second;
}

// Whether nobody else comes to links of the run before it ends, however fast all go on.
inline bool LongestPathLoop::undisturbed(const PathRun& run, Time end) {
  if (!run.few_others || state_.options.share_all_links) return false;
  const Time until = end + kRoundingMargin;
  for (const LinkUsers::Launcher& each : programs_.others(run)) {
    const PathStream::Quiet& of_other = quiet(each.chip, each.stream, until);
    if (of_other.until <= until) return false;
    if (of_other.ahead) relied_on_ = std::max(relied_on_, until);
  }
  ++undisturbed_;
  return true;
}

PathStream::Quiet LongestPathLoop::find_quiet(std::int32_t c, Stream stream, Time until) {
  const PathChip& chip = chips_[c];
  const PathStream& of = chip.streams[static_cast<std::size_t>(stream)];
  if (of.known != of.operations.size()) return {};
  if (chip.status == Status::kEnded) return {Time::max()};
  const LaunchBound& here = programs_.launches(c, chip.segment, *chip.program, stream);
  const Time since = chip.in_span() ? chip.now : std::max(chip.now, state_.now);
  Time least = since + (*here.times)[chip.at];
  if (chip.at < here.until || least > until) return {least};
  const std::vector<std::int32_t>& order = program_of(c).order;
  const std::size_t next = static_cast<std::size_t>(chip.position) + 1;
  for (std::size_t k = next; k < next + kSegmentsAhead; ++k) {
    if (k >= order.size()) return {Time::max(), true};
    const LaunchBound& behind = programs_.launches(c, order[k], programs_.segment(c, order[k]), stream);
    least += behind.times->front();
    if (behind.until > 0 || least > until) break;
  }
  return {least, true};
}

// Of what is known ahead.
inline void LongestPathLoop::note_start(std::int32_t m, Time begin, Time end) {
  state_.accounts.start(m);
  ++state_.events;
  ++started_ahead_;
  ahead_[m].end = end;
  last_start_ = std::max(last_start_, begin);
}

inline bool LongestPathLoop::wait(PathChip& chip, std::int32_t number, const PathInstruction& step) {
  if (copies(step.stream)) return true;  // there are none
  PathStream& stream = chip.streams[static_cast<std::size_t>(step.stream)];
  stream.trim(chip.now);
  const auto pending = static_cast<std::size_t>(step.pending);
  if (stream.operations.size() - stream.first <= pending) return true;
  const std::size_t awaited = stream.operations.size() - pending - 1;
  if (stream.operations[awaited].end != kNotKnown) {
    end_wait(number, stream, awaited);
    return true;
  }
  chip.status = Status::kWaiting;
  chip.stream = step.stream;
  chip.awaited = awaited;
  return false;
}

// The chip goes on from the end of the operation, which may have been before it came, ahead of the present.
void LongestPathLoop::end_wait(std::int32_t c, const PathStream& stream, std::size_t awaited) {
  PathChip& chip = chips_[c];
  const PathOperation& operation = stream.operations[awaited];
  if (operation.end <= chip.now) return;
  if (records())
    for (std::size_t before = stream.first_after(chip.now); before < awaited; ++before)
      state_.accounts.waited_before(c, std::max(chip.now, stream.operations[before].reached),
                                    stream.operations[before].started);
  if (operation.step->between_stages) {
    state_.accounts.spend(c, Bucket::kBubble, chip.now, operation.end, "send to a stage");
  } else {
    state_.accounts.wait(c, operation.step->pattern,
                         {chip.now, operation.reached, operation.started, operation.end}, operation.last);
  }
  chip.now = operation.end;
}

inline bool LongestPathLoop::receive(PathChip& chip, std::int32_t c, Stream stream) {
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

// ---- Operations

void LongestPathLoop::reach(std::int32_t c, PathOperation& operation, Time at) {
  operation.reached = at;
  const PathInstruction& step = *operation.step;
  const std::int32_t message = step.message;
  Rendezvous& rendezvous = state_.all_rendezvous[operation.rendezvous];
  PODSIM_CHECK(rendezvous.reached == 0 || rendezvous.message == message,
               "members issue the same operations in the same order");
  rendezvous.message = message;
  if (rendezvous.reached == 0 || rendezvous.last_reached < at ||
      (rendezvous.last_reached == at &&
       state_.chips[c].degradation < state_.chips[rendezvous.last].degradation)) {
    rendezvous.last = c;
    rendezvous.last_reached = at;
  }
  const std::size_t needed = step.between_stages ? 1 : rendezvous.members.size();
  if (static_cast<std::size_t>(++rendezvous.reached) == needed) start(operation.rendezvous);
}

// When its last member has come, which may be behind the present.
void LongestPathLoop::start(std::int32_t m) {
  const Rendezvous& rendezvous = state_.all_rendezvous[m];
  const std::int32_t run = tables_.uncontended.find(rendezvous.group, rendezvous.message);
  const PathRun& known = programs_.run(m, run, rendezvous.message);
  if (known.own_links || undisturbed(known, rendezvous.last_reached + known.arrival)) {
    start_ahead(m, known);
  } else if (rendezvous.last_reached > state_.now) {
    ahead_[m].waiting = true;
    set_event(m, rendezvous.last_reached);
  } else {
    start_now(m, run);
  }
}

void LongestPathLoop::start_now(std::int32_t m, std::int32_t run) {
  const Time now = state_.now;
  const Rendezvous& rendezvous = state_.all_rendezvous[m];
  state_.accounts.start(m);
  if (!tables_.uncontended[run].ends || !operations_.start_if_alone(m, run, now))
    return operations_.start(m, now);
  const KnownCollective known{now, tables_.uncontended[run].edges, system_.pattern_of[rendezvous.message], m};
  for (const std::int32_t c : rendezvous.members) start_known(c, known, now);
}

void LongestPathLoop::start_ahead(std::int32_t m, const PathRun& run) {
  Rendezvous& rendezvous = state_.all_rendezvous[m];
  const Time begin = rendezvous.last_reached, end = begin + run.arrival;
  rendezvous.started = begin;
  note_start(m, begin, end);
  const KnownCollective known{begin, run.edges, run.pattern, m};
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
    state_.accounts.sent(members[0], ended.stream, {ended.started, end});
    arrive(members[1], ended.stream, end);
    leave(members[0], ended, end);
  } else {
    for (const std::int32_t c : members) leave(c, ended, end);
  }
}

// The first operation of the stream of which this is not known is over then.
void LongestPathLoop::leave(std::int32_t c, const Ended& ended, Time end) {
  PathChip& chip = chips_[c];
  PathStream& stream = chip.streams[static_cast<std::size_t>(ended.stream)];
  PODSIM_CHECK(stream.known < stream.operations.size(), "what ends has been launched");
  const std::size_t place = stream.known++;
  PathOperation& operation = stream.operations[place];
  operation.last = ended.last;
  operation.started = ended.started;
  operation.end = end;
  if (chip.status == Status::kWaiting && chip.stream == ended.stream && chip.awaited == place) {
    end_wait(c, stream, place);
    ++chip.at;
    resume_later(c);
  }
  if (place + 1 < stream.operations.size()) {
    PathOperation& next = stream.operations[place + 1];
    reach(c, next, std::max(end, next.launched));
  }
}

void LongestPathLoop::arrive(std::int32_t c, Stream stream, Time at) {
  PathChip& chip = chips_[c];
  chip.streams[static_cast<std::size_t>(stream)].arrivals.push_back(at);
  if (chip.status == Status::kReceiving && chip.stream == stream) resume_later(c);
}

// ---- What drains beside computations

void LongestPathLoop::start_known(std::int32_t c, const KnownCollective& known, Time) {
  PathChip& chip = chips_[c];
  if (!chip.slowed || known.edges.empty()) return;
  for (std::size_t e = 0; e + 1 < known.edges.size(); e += 2)
    chip.beside.add({known.start + known.edges[e].after, known.start + known.edges[e + 1].after,
                     known.pattern, known.rendezvous});
  foresee_anew(c, known.start + known.edges.front().after);
}

void LongestPathLoop::forget_known(std::int32_t c, std::int32_t m, bool, Time now) {
  chips_[c].beside.change([&](DrainBeside& each) {
    if (each.rendezvous != m) return true;
    if (each.begin >= now) return false;
    each.rendezvous = -1;
    if (each.end > now) each.end = Time::max();
    return true;
  });
  foresee_anew(c, now);
}

void LongestPathLoop::change_transfers(std::int32_t c, std::int32_t pattern, int difference, Time now) {
  if (!chips_[c].slowed) return;
  DrainsBeside& beside = chips_[c].beside;
  if (difference > 0) {
    beside.add({now, Time::max(), pattern});
  } else {
    bool open = false;
    beside.change([&](DrainBeside& each) {
      if (!open && each.pattern == pattern && each.end == Time::max()) {
        open = true;
        each.end = now;
      }
      return true;
    });
    PODSIM_CHECK(open, "what ends has begun");
  }
  foresee_anew(c, now);
}

// Something else drains beside the chip from then on.
void LongestPathLoop::foresee_anew(std::int32_t c, Time from) {
  const PathChip& chip = chips_[c];
  if (chip.status == Status::kTogether) return foresee_together_anew(c, from);
  if (chip.status != Status::kComputing) return;
  chip.span->joined = true;
  if (chip.foreseen && from < chip.now + chip.course.length) foresee(c);
}

}  // namespace podsim
