// The one stateful stage.
#include "scheduler/simulate.h"

#include <algorithm>

#include "engine/agenda.h"
#include "engine/check.h"
#include "scheduler/accounts.h"
#include "scheduler/computation.h"
#include "scheduler/host_copies.h"
#include "scheduler/jumps.h"
#include "scheduler/operations.h"
#include "scheduler/running.h"
#include "scheduler/running_lanes.h"
#include "scheduler/step_delays.h"
#include "scheduler/upcoming.h"
#include "scheduler/weather.h"

namespace podsim {
namespace {

// Slots of the agenda: computations of chip classes, meetings, copies of chips, late launches of chips.
class Simulation {
 public:
  Simulation(const System& system, const SimulateOptions& options)
      : system_(system),
        options_(options),
        lanes_(system),
        first_meeting_(system.chips.size()),
        first_copy_(first_meeting_ + lanes_.lists().meetings().size()),
        first_late_(first_copy_ + HostCopies::slots(system)),
        agenda_(first_late_ + LateLaunches::slots(system, options.variation)),
        accounts_(system, options.keep_intervals, options.keep_passes),
        computation_(system, options, lanes_.lists(), agenda_, accounts_),
        meetings_(idle_meetings(system, lanes_.lists())),
        operations_(system, !options.share_all_links, first_meeting_, meetings_, agenda_, computation_),
        copies_(system.chips.size(), agenda_, first_copy_),
        delays_(system, options, agenda_, first_late_),
        jumps_(system, options.may_jump()),
        weather_(system, options.seed),
        jobs_(system.meshes.size()),
        chips_(idle_chips(system, jobs_)),
        upcoming_(first_meeting_, first_copy_, agenda_, chips_, meetings_, lanes_, computation_, accounts_) {}

  std::vector<Timeline> run() {
    if (weather_.next() == now_) change_weather();
    for (RunningJob& job : jobs_) begin_step(job);
    while (!any_step_over() || turn_steps()) {
      const Time drain = operations_.next_drain();
      if (jumps_.due(events_) && jump()) continue;
      now_ = std::min(drain, agenda_.next_time());
      PODSIM_CHECK(std::min(now_, weather_.next()) < Time::max(),
                   "the step has stopped: chips wait for each other");
      if (weather_.next() <= now_) {
        now_ = weather_.next();
        change_weather();
        continue;
      }
      if (now_ == drain) events_ += static_cast<std::int64_t>(operations_.drain(now_));
      while (agenda_.next_time() == now_) handle(agenda_.next());
    }
    return accounts_.timelines(events_, jumps_.periods_skipped(), operations_.standstills());
  }

 private:
  // Goes over everything that decides what happens next, and over the totals.
  template <class Visitor>
  void visit(Visitor& state) {
    agenda_.visit(state);
    for (std::size_t c = 0; c < chips_.size(); ++c) {
      chips_[c].visit(state);
      lanes_.visit(state, static_cast<std::int32_t>(c), chips_[c].program);
    }
    operations_.visit(state);
    computation_.visit(state, now_);
    copies_.visit(state);
    accounts_.visit(state);
  }

  // Over as many periods as the step repeats from here; false if there is none.
  bool jump() {
    return jumps_.over_periods(now_, weather_.next(), [&](auto& state) { visit(state); });
  }

  // A lone job has ended a step: over those that are the same once more.
  void jump_steps() {
    RunningJob& job = jobs_.front();
    const Jumps::Steps steps =
        jumps_.over_steps(now_, options_.steps - accounts_.steps(0), weather_.next(), [&](auto& state) {
          visit(state);
          job.visit(state);
        });
    job.repeat_steps(steps.count, steps.length);
    accounts_.repeat_steps(0, steps.count, steps.length);
  }

  // Speeds change now.
  void change_weather() {
    ++events_;
    jumps_.forget();
    weather_.pass([&](std::int32_t c, double factor) { computation_.change_speed(c, factor, now_); },
                  [&](std::int32_t l, double factor) { operations_.change_speed(l, factor, now_); });
  }

  bool any_step_over() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [](const RunningJob& job) { return job.running == 0; });
  }

  // Ends the steps that are over and begins those that follow them. False once every job has done its steps.
  bool turn_steps() {
    for (bool over = true; over;) {
      for (std::size_t j = 0; j < jobs_.size(); ++j)
        if (jobs_[j].running == 0) end_step(static_cast<int>(j));
      if (jobs_.size() == 1 && !delays_.any()) jump_steps();
      bool done = true;
      for (std::size_t j = 0; j < jobs_.size(); ++j)
        done = done && accounts_.steps(static_cast<int>(j)) >= options_.steps;
      if (done) return false;
      over = false;
      for (RunningJob& job : jobs_) {
        if (job.running > 0) continue;
        begin_step(job);
        over = over || job.running == 0;
      }
    }
    return true;
  }

  void begin_step(RunningJob& job) {
    const int step = static_cast<int>(job.begins.size()), number = program_of(chips_[job.chips.front()]).job;
    job.begin_step(now_, delays_.input_stalls(number, step));
    job.running = static_cast<int>(job.chips.size());
    jumps_.begin_step();
    delays_.begin_step(number, step);
    for (const std::int32_t c : job.chips) {
      chips_[c].begin_step(now_);
      lanes_.begin_step(c, chips_[c].program);
      if (delays_.any()) delays_.begin_chip(c, step);
      turn_to(c, 0);
      advance(c);
    }
  }

  void end_step(int j) {
    RunningJob& job = jobs_[j];
    PODSIM_CHECK(now_ > job.begins.back() || accounts_.steps(j) < options_.steps,
                 "a step beside other jobs takes time");
    for (const std::int32_t c : job.chips) {
      PODSIM_CHECK(chips_[c].ended, "every chip ends its step");
      accounts_.spend(c, Bucket::kPeerWait, chips_[c].since, now_, "wait for the end of the step");
    }
    accounts_.end_step(j, now_);
  }

  const StageProgram& program_of(const RunningChip& chip) const { return system_.step.stages[chip.program]; }
  RunningJob& job_of(const RunningChip& chip) { return jobs_[program_of(chip).job]; }

  void handle(std::size_t slot) {
    ++events_;
    agenda_.clear(slot);
    upcoming_.look_ahead();
    if (slot < first_meeting_) {
      computed(static_cast<std::int32_t>(slot));
    } else if (slot < first_copy_) {
      const auto m = static_cast<std::int32_t>(slot - first_meeting_);
      if (operations_.advance(m, now_)) complete(m);
    } else if (slot < first_late_) {
      const HostCopies::Copy copy = copies_.of_slot(slot);
      copied(copy.chip, copy.stream);
    } else {
      launch_late(static_cast<std::int32_t>(slot - first_late_));
    }
  }

  // False at the end of the program.
  bool turn_to(std::int32_t c, std::int32_t position) {
    RunningChip& chip = chips_[c];
    const StageProgram& program = program_of(chip);
    chip.position = position;
    if (static_cast<std::size_t>(position) == program.order.size()) return false;
    accounts_.turn_to(c, position);
    if (delays_.turn_to_pause(c, chip)) return true;
    if (delays_.any()) computation_.vary(c, delays_.factor(c, position));
    chip.turn_to(program.segments[program.order[position]]);
    jumps_.turn_to(c, position);
    return true;
  }

  // Issues instructions until the chip computes, waits, or has ended its step.
  void advance(std::int32_t c) {
    RunningChip& chip = chips_[c];
    for (;;) {
      while (chip.at == chip.end) {
        if (turn_to(c, chip.position + 1)) continue;
        chip.ended = true;
        chip.since = now_;
        --job_of(chip).running;
        return;
      }
      if (!issue(c, *chip.at)) return;
      ++chip.at;
    }
  }

  // False when the chip has to stay at this instruction.
  bool issue(std::int32_t c, const Instruction& instruction) {
    RunningChip& chip = chips_[c];
    switch (instruction.kind) {
      case Instruction::Kind::kCompute:
        chip.since = now_;
        computation_.begin(c, now_, computation_.draw_run(c, chip.at, chip.end));
        return false;
      case Instruction::Kind::kInput:
        return job_of(chip).next_batch <= now_ || pause(c, job_of(chip).next_batch - now_);
      case Instruction::Kind::kHost:
        chip.host += instruction.duration;
        if (chip.host <= now_) return true;
        chip.met = now_;
        return pause(c, chip.host - now_);
      case Instruction::Kind::kPause:
        return pause(c, instruction.duration);
      case Instruction::Kind::kSynchronise:
        chip.host = chip.met = now_;
        return true;
      case Instruction::Kind::kLaunch:
        if (!delays_.late().hold(c, instruction.stream, now_)) launch(c, instruction.stream);
        return true;
      case Instruction::Kind::kCopy:
        copies_.launch(c, instruction.stream, now_, instruction.duration);
        return true;
      case Instruction::Kind::kWait:
        if (unfinished(c, instruction.stream) <= instruction.pending) return true;
        break;
      case Instruction::Kind::kReceive:
        if (lane_of(c, instruction.stream).received == 0) break;
        --lane_of(c, instruction.stream).received;
        chip.host = chip.met = now_;
        return true;
    }
    chip.blocked = true;
    chip.since = now_;
    return false;
  }

  bool pause(std::int32_t c, Time length) {
    chips_[c].since = now_;
    computation_.begin_pause(c, now_, length);
    return false;
  }

  RunningLane& lane_of(std::int32_t c, Stream stream) { return lanes_.of(c, chips_[c].program, stream); }

  int unfinished(std::int32_t c, Stream stream) {
    return copies(stream) ? copies_.unfinished(c, stream)
                          : lane_of(c, stream).unfinished + delays_.late().waiting(c, stream);
  }

  void launch(std::int32_t c, Stream stream) {
    if (++lane_of(c, stream).unfinished == 1) reach(c, stream);
  }

  // The host gets to a launch. What the chip has waited for nothing else is a pause.
  void launch_late(std::int32_t c) {
    delays_.late().launch(c);
    RunningChip& chip = chips_[c];
    if (chip.blocked_at(Instruction::Kind::kWait, Stream::kGradient) &&
        lane_of(c, Stream::kGradient).unfinished == 0) {
      accounts_.spend(c, Bucket::kPause, chip.since, now_, "wait for a late launch");
      chip.since = now_;
    }
    launch(c, Stream::kGradient);
  }

  void computed(std::int32_t c) {
    RunningChip& chip = chips_[c];
    const Instruction& instruction = *chip.at;
    const Time lost = computation_.end(c, now_);
    if (instruction.kind == Instruction::Kind::kHost || instruction.kind == Instruction::Kind::kPause) {
      accounts_.spend(c, instruction.bucket, chip.since, now_, "wait for the host");
    } else {
      accounts_.compute(c, instruction.bucket, chip.since, now_, lost);
    }
    ++chip.at;
    advance(c);
  }

  void copied(std::int32_t c, Stream stream) {
    accounts_.show(c, stream, -1, copies_.end(c, stream, now_), now_);
    const Instruction* waiting = chips_[c].blocked_at(Instruction::Kind::kWait, stream);
    if (!waiting || unfinished(c, stream) > waiting->pending) return;
    accounts_.spend(c, Bucket::kOffload, chips_[c].since, now_, "wait for a copy");
    go_on(c);
  }

  // Meetings: the collectives and transfers of groups.

  bool point_to_point(std::int32_t message) const {
    return system_.step.messages[message].scope.neighbour != 0;
  }

  // The first operation of the chip's stream has come to its turn.
  void reach(std::int32_t c, Stream stream) {
    lane_of(c, stream).reached = now_;
    const LaneOperation& first = lanes_.first(c, chips_[c].program, stream);
    const std::int32_t m = lanes_.meeting(c, first);
    Meeting& meeting = meetings_[m];
    PODSIM_CHECK(meeting.reached == 0 || meeting.message == first.message,
                 "members issue the same operations in the same order");
    meeting.message = first.message;
    if (meeting.reached == 0 || meeting.last_reached < now_ ||
        chips_[c].slowness < chips_[meeting.last].slowness)
      meeting.last = c;
    meeting.last_reached = now_;
    ++meeting.reached;
    const std::size_t needed = point_to_point(first.message) ? 1 : meeting.members.size();
    if (static_cast<std::size_t>(meeting.reached) + 1 == needed)
      accounts_.fetch_start(meeting.group, meeting.message);
    if (static_cast<std::size_t>(meeting.reached) < needed) return;
    accounts_.start(meeting.group, meeting.message);
    operations_.start(m, now_);
  }

  void complete(std::int32_t m) {
    Meeting& meeting = meetings_[m];
    const Ended ended{meeting.stream, meeting.message, meeting.last, meeting.started};
    meeting.reached = 0;
    const std::span<const std::int32_t> members = meeting.members;
    if (options_.keep_intervals)
      for (const std::int32_t c : members)
        accounts_.show(c, ended.stream, ended.message, ended.started, now_);
    if (point_to_point(ended.message)) {
      accounts_.sent(members[0], ended.stream, {ended.started, now_});
      ++lane_of(members[1], ended.stream).received;
      leave(members[0], ended);
      resume_receive(members[1], ended);
    } else {
      for (std::int32_t c : members) leave(c, ended);
    }
  }

  void account_wait(std::int32_t c, const Ended& ended, Time reached) {
    if (point_to_point(ended.message)) {
      accounts_.spend(c, Bucket::kBubble, chips_[c].since, now_, "send to a stage");
    } else {
      accounts_.wait(c, system_.pattern_of[ended.message], {chips_[c].since, reached, ended.started, now_},
                     ended.last);
    }
  }

  // The operation is off the chip's stream, the next one comes to its turn, and a wait for this one is over.
  void leave(std::int32_t c, const Ended& ended) {
    const Time reached = lane_of(c, ended.stream).reached;
    const RunningLane& lane = lanes_.end_first(c, chips_[c].program, ended.stream);
    if (lane.unfinished > 0) reach(c, ended.stream);
    const Instruction* waiting = chips_[c].blocked_at(Instruction::Kind::kWait, ended.stream);
    if (!waiting) return;
    if (unfinished(c, ended.stream) > waiting->pending)
      return accounts_.waited_before(c, std::max(chips_[c].since, reached), ended.started);
    account_wait(c, ended, reached);
    go_on(c);
  }

  void resume_receive(std::int32_t c, const Ended& ended) {
    if (!chips_[c].blocked_at(Instruction::Kind::kReceive, ended.stream)) return;
    accounts_.spend(c, Bucket::kBubble, chips_[c].since, now_, "wait for a stage");
    go_on(c);
  }

  void go_on(std::int32_t c) {
    chips_[c].blocked = false;
    advance(c);
  }

  const System& system_;
  const SimulateOptions& options_;
  RunningLanes lanes_;
  const std::size_t first_meeting_, first_copy_, first_late_;  // slots
  Agenda agenda_;
  Accounts accounts_;
  Computation computation_;
  std::vector<Meeting> meetings_;
  Operations operations_;
  HostCopies copies_;
  StepDelays delays_;
  Jumps jumps_;
  Weather weather_;
  Time now_;
  std::int64_t events_ = 0;
  std::vector<RunningJob> jobs_;
  std::vector<RunningChip> chips_;
  Upcoming upcoming_;
};

}  // namespace

std::vector<Timeline> simulate(const System& system, const SimulateOptions& options) {
  return Simulation(system, options).run();
}

}  // namespace podsim
