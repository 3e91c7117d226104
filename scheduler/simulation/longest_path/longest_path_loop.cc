// A step from its begin to its end, and what chips do by themselves; the rest is in path_operations.cc.
#include "scheduler/simulation/longest_path/longest_path_loop.h"

#include <algorithm>
#include <bit>

#include "engine/check.h"
#include "engine/check_scope.h"
#include "engine/time_limits.h"

namespace podsim {
namespace {

// A span takes as long as so many events of other loops.
constexpr std::int64_t kEventsPerHandled = 3;

}  // namespace

bool LongestPathLoop::knows(SystemTables& tables, const SimulateOptions& options) {
  if (options.loop != Loop::kFast || options.random() || options.keep_intervals || options.share_all_links ||
      options.steps != 1)
    return false;
  if (!tables.has_longest_path) tables.has_longest_path = knows(tables);
  return *tables.has_longest_path;
}

bool LongestPathLoop::knows(SystemTables& tables) {
  const System& system = tables.system;
  // More classes than so many are of systems of which little repeats.
  constexpr std::size_t kMostChips = 1024;
  if (system.meshes.size() != 1 || !system.profiles.empty() || system.chips.size() > kMostChips ||
      system.packing.front().lengths.any())
    return false;
  for (const StageProgram& program : system.step.stages)
    for (const std::vector<Instruction>& segment : program.segments)
      if (std::ranges::find(segment, Instruction::Kind::kCopy, &Instruction::kind) != segment.end())
        return false;
  return true;
}

LongestPathLoop::LongestPathLoop(SystemTables& tables, PathPrograms& programs, const SimulateOptions& options)
    : tables_(tables),
      programs_(programs),
      state_(tables.system, tables.lists, options, 0),
      system_(tables.system),
      operations_(state_, tables.uncontended, *this),
      fast_forward_(system_, options.may_jump()),
      events_(state_.slots.first_copy),
      chips_(system_.chips.size()),
      ahead_(state_.all_rendezvous.size()) {
  PODSIM_CHECK(knows(tables, options), "the system is one whose longest path can be followed");
  for (std::size_t c = 0; c < chips_.size(); ++c)
    chips_[c].slowed = program_of(static_cast<std::int32_t>(c)).interference != 0;
  list_peers();
}

std::optional<std::vector<Timeline>> LongestPathLoop::run() {
  const CheckScope scope({.scenario = nullptr, .seed = &state_.options.seed, .now_ps = &state_.now.ps});
  begin_step();
  for (;;) {
    state_.tell_share(
        [&](std::int32_t c) { return chips_[c].position / static_cast<double>(program_of(c).order.size()); });
    while (!resumed_.empty()) {
      const std::int32_t chip = resumed_.back();
      resumed_.pop_back();
      advance(chip);
    }
    // Rates are solved for once all that happens at an instant has happened.
    if (events_.next_time() == state_.now) {
      happen(events_.next());
      continue;
    }
    if (state_.jobs.front().running == 0 && over()) return finish();
    const Time drain = operations_.next_drain();  // solves for rates, which a jump captures
    if (fast_forward_.due(kEventsPerHandled * handled_) && jump()) {
      // Other segments may come now than were looked at.
      for (PathChip& chip : chips_)
        for (PathStream& stream : chip.streams) stream.quiet = {};
      continue;
    }
    state_.now = next_instant(std::min(drain, events_.next_time()), operations_.any_drains());
    if (state_.now == drain) {
      state_.events += std::ssize(operations_.drain(state_.now));
    } else {
      happen(events_.next());
    }
  }
}

// The segments that something relies on come behind it too.
bool LongestPathLoop::jump() {
  const std::size_t ahead = relied_on_ > state_.now ? kSegmentsAhead : 0;
  return fast_forward_.over_periods(state_.now, Time::max(), ahead, [&](auto& state) { visit(state); });
}

void LongestPathLoop::happen(std::size_t slot) {
  if (state_.slots.is_chip(slot)) {
    const auto chip = static_cast<std::int32_t>(slot);
    if (chips_[chip].status == Status::kTogether) {
      end_together(chip);
      return;
    }
    if (!chips_[chip].foreseen) {
      foresee(chip);
      PODSIM_CHECK(chips_[chip].course.length + kRoundingMargin >= chips_[chip].span->alone.length,
                   "transfers bring nothing forward but by rounding");
      PODSIM_CHECK(chips_[chip].now + chips_[chip].course.length >= state_.now ||
                       chips_[chip].now < chips_[chip].parted,
                   "only what has waited for peers ends behind the present");
      return;
    }
    ++handled_;
    end_span(chip);
    const Status status = chips_[chip].status;
    if (status != Status::kComputing && status != Status::kTogether) events_.clear(slot);
  } else {
    ++handled_;
    events_.clear(slot);
    operate(state_.slots.rendezvous(slot));
  }
}

void LongestPathLoop::begin_step() {
  RunningJob& job = state_.jobs.front();
  job.begin_step({});
  job.running = static_cast<int>(chips_.size());
  fast_forward_.begin_step();
  for (const std::int32_t c : job.chips) {
    enter_segment(c, 0);
    resume_later(c);
  }
}

bool LongestPathLoop::enter_segment(std::int32_t c, std::int32_t position) {
  PathChip& chip = chips_[c];
  const StageProgram& program = program_of(c);
  chip.position = position;
  if (static_cast<std::size_t>(position) == program.order.size()) return false;
  chip.segment = program.order[position];
  chip.program = &programs_.segment(c, chip.segment);
  chip.at = 0;
  fast_forward_.enter_segment(c, position);
  state_.accounts.enter_segment(c, static_cast<std::size_t>(position));
  return true;
}

// ---- What a chip does by itself

bool LongestPathLoop::begin_span(std::int32_t c, const PathInstruction& step) {
  PathChip& chip = chips_[c];
  // How long the optimizer takes is recorded apart from the rest.
  if (step.span == nullptr || (step.span->updates && records())) return false;
  SoloSpan* span = before_guests(c, *step.span);
  if (span == nullptr || !may_begin(chip, *span)) return false;
  start_span(c, *span);
  return true;
}

SoloSpan* LongestPathLoop::before_guests(std::int32_t c, SoloSpan& span) {
  if (span.launched.empty()) return &span;
  const std::span<const std::int32_t> guests = tables_.legs.guests(c, chips_[c].segment);
  if (guests.empty()) return &span;
  const Time begin = chips_[c].now, most = begin + span.longest + kRoundingMargin;
  Time until = Time::max();
  bool ahead = false;
  for (const std::int32_t m : guests) {
    const Rendezvous& transfer = state_.all_rendezvous[m];
    const std::int32_t source = transfer.members.front();
    if (source == c) {  // and launches nothing itself before the span is over
      const PathStream& stream = chips_[c].streams[static_cast<std::size_t>(transfer.stream)];
      if (stream.known < stream.operations.size()) return nullptr;
      continue;
    }
    const PathStream::Quiet& of_source = quiet(source, transfer.stream, most);
    until = std::min(until, of_source.until);
    ahead = ahead || of_source.ahead;
  }
  SoloSpan* found = programs_.spans().within(c, span, until - kRoundingMargin - begin);
  if (found == nullptr) return nullptr;
  ++between_transfers_;
  cut_off_ += found != &span;
  if (ahead) relied_on_ = std::max(relied_on_, begin + found->longest);
  return found;
}

bool LongestPathLoop::may_begin(PathChip& chip, const SoloSpan& span) {
  if (chip.host - chip.now > span.latest_host) return false;
  for (std::uint32_t left = span.idle; left != 0; left &= left - 1) {
    PathStream& stream = chip.streams[static_cast<std::size_t>(std::countr_zero(left))];
    if (stream.operations.empty()) continue;
    stream.trim(chip.now);
    if (!stream.operations.empty()) return false;
  }
  return true;
}

void LongestPathLoop::compute(std::int32_t c) {
  const PathChip& chip = chips_[c];
  start_span(c, programs_.spans().computation(c, chip.segment, chip.at));
}

void LongestPathLoop::start_span(std::int32_t c, SoloSpan& span) {
  PathChip& chip = chips_[c];
  chip.status = Status::kComputing;
  chip.span = &span;
  // Of what ends behind the present the times may still be forgotten.
  chip.beside.trim(std::min(state_.now, chip.now));
  // Nothing that drains beside it brings its end forward: all of it is known when the end is asked for
  // shortly before.
  if (!chip.slowed || !span.joined) return foresee(c);
  span.joined = false;
  chip.foreseen = false;
  events_.set(static_cast<std::size_t>(c),
              std::max(state_.now, chip.now + span.alone.length - kRoundingMargin));
}

void LongestPathLoop::foresee(std::int32_t c) {
  PathChip& chip = chips_[c];
  chip.foreseen = true;
  programs_.spans().follow(c, *chip.span, chip.now, chip.beside.all(), chip.course);
  events_.set(static_cast<std::size_t>(c), std::max(state_.now, chip.now + chip.course.length));
}

void LongestPathLoop::end_span(std::int32_t c) {
  record_span(c, chips_[c].course.length, {}, {});
  leave_span(c, chips_[c].course);
  advance(c);
}

void LongestPathLoop::record_span(std::int32_t c, Time length, Time first_own, Time stood) {
  const PathChip& chip = chips_[c];
  if (records())
    state_.accounts.record(c, chip.span->updates ? Bucket::kOptimizer : Bucket::kCompute,
                           chip.now + first_own, chip.now + length, stood - first_own);
}

void LongestPathLoop::leave_span(std::int32_t c, const SpanCourse& course) {
  PathChip& chip = chips_[c];
  const LegOutcome& total = *course.outcome;
  state_.accounts.add(c, total.bucket, total.exposed);
  for (const SpanDelay& each : course.delays) state_.accounts.slow_down(c, each.pattern, each.lost);
  state_.events += chip.span->events;
  for (const LegLaunches& each : chip.span->launched) {
    const std::int32_t m = tables_.legs.rendezvous_of(c, each.stream, each.communicator);
    if (state_.all_rendezvous[m].members.front() == c) {
      state_.accounts.start(m, each.count);
    } else {
      state_.events -= each.count;  // peers count it
    }
  }
  const Time end = chip.now + course.length;
  const Time before = total.host_add == LegOutcome::kNever ? LegOutcome::kNever : chip.host + total.host_add;
  const Time floor = LegOutcome::later(course.host_floor, chip.now);
  chip.host = std::max(before, floor);
  if (floor > before) chip.met = end;
  chip.now = end;
  chip.at += static_cast<std::size_t>(chip.span->instructions);
  chip.status = Status::kReady;
}

void LongestPathLoop::launch_by_host(std::int32_t c, const PathInstruction& step) {
  PathChip& chip = chips_[c];
  chip.host += step.duration;
  if (const Time full = chip.now - program_of(c).host_lead; chip.host < full) {
    chip.host = full;
    chip.met = chip.now;
  }
  if (chip.host <= chip.now) return;
  chip.met = chip.now;
  pause(c, step.bucket, chip.host - chip.now);
}

void LongestPathLoop::wait_for_input(std::int32_t c, Bucket bucket) {
  const Time batch = state_.jobs.front().next_batch;
  if (batch > chips_[c].now) pause(c, bucket, batch - chips_[c].now);
}

void LongestPathLoop::pause(std::int32_t c, Bucket bucket, Time length) {
  PathChip& chip = chips_[c];
  state_.accounts.spend(c, bucket, chip.now, chip.now + length, "pause");
  chip.now += length;
  ++state_.events;
}

// ---- The end, and what is jumped over

// Nothing that is left happens before the step ends.
bool LongestPathLoop::over() { return std::min(operations_.next_drain(), events_.next_time()) > step_end(); }

Time LongestPathLoop::step_end() const {
  Time end;
  for (const PathChip& chip : chips_) end = std::max(end, chip.now);
  return end;
}

std::optional<std::vector<Timeline>> LongestPathLoop::finish() {
  const Time end = step_end();
  if (last_start_ >= end) return std::nullopt;  // of the step to come
  Accounts& accounts = state_.accounts;
  for (std::size_t c = 0; c < chips_.size(); ++c)
    accounts.spend(static_cast<std::int32_t>(c), Bucket::kPeerWait, chips_[c].now, end, "wait for the end");
  for (const Ahead& each : ahead_)
    state_.events -= each.end > end;  // it has started in this step, and ends in none
  accounts.end_step(0, end, state_.jobs.front().next_batch);
  if (state_.options.share_done) state_.options.share_done(1);
  return accounts.timelines(state_.events, fast_forward_.periods_skipped(), operations_.standstills());
}

template <class Visitor>
void LongestPathLoop::visit(Visitor& state) {
  // When a chip asks for the end of its span, and what it knows of that, changes nothing.
  events_.visit(state, chips_.size());
  for (PathChip& chip : chips_) chip.visit(state, state_.now);
  // How it ran last time decides nothing.
  for (Rendezvous& each : state_.all_rendezvous) each.alone = each.alone && each.running;
  for (PeerSpan& each : peer_spans_) each.visit(state);
  operations_.visit(state);
  for (Ahead& each : ahead_) {
    state.fixed(each.waiting);
    each.end > state_.now ? state.moving(each.end) : state.past(each.end);
  }
  state.past(last_start_);
  state.moves_along(relied_on_.ps);
  state_.accounts.visit(state);
}

}  // namespace podsim
