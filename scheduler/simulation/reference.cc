// The rules of a step one after another, by their numbers in simulate.h.
#include "scheduler/simulation/reference.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/fluid.h"
#include "scheduler/simulation/reference_accounts.h"
#include "scheduler/simulation/reference_computations.h"
#include "scheduler/simulation/reference_meetings.h"

namespace podsim {
namespace reference {
namespace {
using Kind = Instruction::Kind;

class Reference {
 public:
  Reference(const System& system, const SimulateOptions& options)
      : system_(system),
        options_(options),
        draws_(system, options),
        accounts_(system, options.keep_intervals, options.keep_passes),
        computations_(system, options, events_, accounts_, [this](std::int32_t c) { end_work(c); }),
        links_(link_capacities(system), 1e12),  // ticks are picoseconds
        changes_(system.profiles.size()),
        factors_(changes_.size(), 1),
        chips_(system.chips.size()),
        operations_(system.groups.size() * kNetworkStreams),
        jobs_(system.meshes.size()) {
    for (std::size_t c = 0; c < chips_.size(); ++c) {
      chips_[c].of = &system.chips[c];
      chips_[c].program = &system.step.stages[system.chips[c].program];
      Job& job = job_of(chips_[c]);
      job.input = &chips_[c].program->input;
      job.chips.push_back(static_cast<std::int32_t>(c));
    }
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      jobs_[j].meets_nobody = meets_nobody(system, static_cast<int>(j));
    for (std::size_t o = 0; o < operations_.size(); ++o)
      operations_[o].group = static_cast<std::int32_t>(o / kNetworkStreams);
  }

  // 1. Time.
  std::vector<Timeline> run() {
    change_speeds();
    for (std::size_t j = 0; j < jobs_.size(); ++j) begin_step(static_cast<int>(j));
    for (bool more = turn_steps(); more; more = turn_steps()) {
      Time next = Time{links_.next()};
      if (!events_.empty()) next = std::min(next, events_.next_time());
      for (const Time change : changes_) next = std::min(next, change);
      now_ = next_instant(next, !links_.idle());
      change_speeds();
      if (now_ == Time{links_.next()}) end_transfers();
      for (; !events_.empty() && events_.next_time() == now_; ++happened_) events_.pop()();
    }
    if (options_.share_done) options_.share_done(1);
    return accounts_.timelines(happened_);
  }

 private:
  Job& job_of(const Chip& chip) { return jobs_[chip.program->job]; }

  // 2. Steps. False once every job has done its steps.
  bool turn_steps() {
    for (;;) {
      std::vector<int> over;
      for (std::size_t j = 0; j < jobs_.size(); ++j)
        if (jobs_[j].running == 0 && !jobs_[j].over) over.push_back(static_cast<int>(j));
      if (over.empty()) return true;
      for (const int j : over) end_step(j);
      if (accounts_.fewest_steps() >= options_.steps) return false;
      for (const int j : over) {
        jobs_[j].over = jobs_[j].meets_nobody && accounts_.steps(j) >= options_.steps;
        if (!jobs_[j].over) begin_step(j);
      }
    }
  }
  void begin_step(int j) {
    Job& job = jobs_[j];
    const int step = static_cast<int>(job.begins.size());
    job.begin_step(now_, draws_.input_stalls(j, step));
    job.loads = draws_.loads(j, step);
    job.running = static_cast<int>(job.chips.size());
    for (const std::int32_t c : job.chips) {
      Chip& chip = chips_[c];
      chip.begin_step(now_);
      chip.step_factor = draws_.step_factor(c, step);
      chip.pause = draws_.pause(c, step);
      for (const LateLaunch& rule : options_.variation.late)
        if (rule.chip == chip.of->representative) chip.lateness = draws_.lateness(rule, step);
      advance(c);
    }
  }
  void end_step(int j) {
    PODSIM_CHECK(now_ > jobs_[j].begins.back() || accounts_.steps(j) < options_.steps,
                 "a step beside other jobs takes time");
    for (const std::int32_t c : jobs_[j].chips)
      accounts_.book(c, Bucket::kPeerWait, chips_[c].since, now_, "wait for the end of the step");
    accounts_.end_step(j, now_, jobs_[j].next_batch());
  }

  // 3. Programs.
  void advance(std::int32_t c) {
    Chip& chip = chips_[c];
    chip.blocked = false;
    for (;; ++chip.at) {
      while (chip.at == chip.end)
        if (!turn(c)) return;
      if (!issue(c, *chip.at)) return;
    }
  }

  // False at the end of the program.
  bool turn(std::int32_t c) {
    Chip& chip = chips_[c];
    const auto position = static_cast<std::int32_t>(chip.position);
    chip.since = now_;
    if (chip.position == chip.program->order.size()) {
      --job_of(chip).running;
      return false;
    }
    accounts_.turn_to(c, position);
    if (chip.pause && chip.pause->before == position) {
      chip.pausing.duration = std::exchange(chip.pause, std::nullopt)->length;
      chip.at = &chip.pausing;
      chip.end = chip.at + 1;
      return true;
    }
    const std::vector<Instruction>& segment = chip.program->segments[chip.program->order[chip.position++]];
    chip.at = segment.data();
    chip.end = chip.at + segment.size();
    computations_.vary(c, chip.step_factor * draws_.load_factor(job_of(chip).loads, c, position));
    return true;
  }

  // False when the chip has to stay at this instruction.
  bool issue(std::int32_t c, const Instruction& instruction) {
    Chip& chip = chips_[c];
    Lane& lane = chip.lane(instruction.stream);
    switch (instruction.kind) {
      case Kind::kCompute:
        return work(c, draw_length(c), false);
      case Kind::kPause:
        return work(c, instruction.duration, true);
      case Kind::kHost:
        chip.host = std::max(chip.host + instruction.duration, now_ - chip.program->host_lead);
        return pause_until(c, chip.host);
      case Kind::kInput:
        return pause_until(c, job_of(chip).next_batch());
      case Kind::kSynchronise:
        chip.host = now_;
        return true;
      case Kind::kLaunch:
        launch(c, instruction);
        return true;
      case Kind::kCopy:
        lane.unfinished.push_back({&instruction, chip.launched++});
        begin_copy(c, instruction.stream);
        return true;
      case Kind::kWait:
        return chip.over(instruction) || chip.block(now_);
      case Kind::kReceive:
        if (lane.arrived == 0) return chip.block(now_);
        --lane.arrived;
        chip.host = now_;
        return true;
    }
    return true;
  }

  // 5. Lengths.
  Time draw_length(std::int32_t c) {
    Chip& chip = chips_[c];
    Time length = computations_.draw_length(c, chip.at->duration);
    if (options_.jitter == 0) return length;
    for (const Instruction* next = chip.at + 1; next != chip.end; ++next) {
      if (next->kind == Kind::kCompute && next->bucket == chip.at->bucket) {
        length = computations_.joined(c, length, computations_.draw_length(c, next->duration));
        chip.at = next;
      } else if (next->kind != Kind::kWait || copies(next->stream) || chip.lane(next->stream).moved >= now_ ||
                 !chip.over(*next)) {
        break;
      }
    }
    return length;
  }

  // 6. Pace.
  bool work(std::int32_t c, Time length, bool pause) {
    chips_[c].since = now_;
    computations_.begin(c, now_, length, pause);
    return false;
  }
  bool pause_until(std::int32_t c, Time end) { return end <= now_ || work(c, end - now_, true); }
  void end_work(std::int32_t c) {
    Chip& chip = chips_[c];
    if (const char* const what = waits_by_itself(chip.at->kind)) {
      accounts_.book(c, chip.at->bucket, chip.since, now_, what);
    } else {
      accounts_.book_computation(c, chip.at->bucket, chip.since, now_, computations_.lost(c));
    }
    ++chip.at;
    advance(c);
  }
  void change_speeds() {
    for (std::size_t p = 0; p < changes_.size(); ++p) {
      if (changes_[p] != now_) continue;
      const double factor = factor_at(system_.profiles[p], now_, options_.seed);
      changes_[p] = next_edge(system_.profiles[p], now_, options_.seed);
      if (std::exchange(factors_[p], factor) != factor) change_speeds(static_cast<std::int32_t>(p), factor);
    }
  }
  void change_speeds(std::int32_t profile, double factor) {
    for (std::size_t c = 0; c < chips_.size(); ++c)
      if (chips_[c].of->profile == profile)
        computations_.change_speed(static_cast<std::int32_t>(c), factor, now_);
    for (std::size_t l = 0; l < system_.links.size(); ++l) {
      const LinkClass& link = system_.links[l];
      const auto number = static_cast<std::int32_t>(l);
      if (link.profile != profile) continue;
      if (link.flap >= 0 && factor > 0) note_standstills(number, link.flap);
      links_.set_capacity(now_.ps, number, link.bandwidth.value * factor);
    }
  }

  // 15. Standstills of transfers on a link that comes up.
  void note_standstills(std::int32_t link, std::int32_t flap) {
    for (const std::int32_t o : links_.stalled())
      for (const Use& use : phases_of(operations_[o])[operations_[o].phase].uses)
        if (use.resource == link) accounts_.stood_still(flap, {links_.stalled_since(o)}, now_);
  }

  // 7, 8. Launches, and those of late hosts.
  void launch(std::int32_t c, const Instruction& instruction) {
    Chip& chip = chips_[c];
    if (instruction.stream != Stream::kGradient || chip.lateness == Time{}) return put(c, instruction);
    ++chip.lane(Stream::kGradient).late;
    events_.push(now_ + chip.lateness, [this, c, &instruction] { launch_late(c, instruction); });
  }
  void launch_late(std::int32_t c, const Instruction& instruction) {
    Chip& chip = chips_[c];
    Lane& lane = chip.lane(Stream::kGradient);
    --lane.late;
    if (chip.waits(Kind::kWait, Stream::kGradient) && lane.unfinished.empty() && lane.moved < now_)
      accounts_.book(c, Bucket::kPause, std::exchange(chip.since, now_), now_, "wait for a late launch");
    put(c, instruction);
  }
  void put(std::int32_t c, const Instruction& instruction) {
    std::deque<Launched>& unfinished = chips_[c].lane(instruction.stream).unfinished;
    unfinished.push_back({&instruction, chips_[c].launched++});
    if (unfinished.size() == 1) reach(c, instruction.stream);
  }

  // 9. Groups.
  void reach(std::int32_t c, Stream stream) {
    Lane& lane = chips_[c].lane(stream);
    lane.moved = now_;
    const std::int32_t message = lane.unfinished.front().what->message;
    const std::int32_t group = chips_[c].of->group_class[system_.communicator_of[message]];
    const std::int32_t o = group * kNetworkStreams + static_cast<std::int32_t>(stream);
    Operation& operation = operations_[o];
    PODSIM_CHECK(operation.reached == 0 || operation.message == message,
                 "members issue the same operations in the same order");
    operation.message = message;
    if (operation.reached == 0 || operation.last_reached < now_ || slower(c, operation.last))
      operation.last = c;
    operation.last_reached = now_;
    const std::size_t needed = point_to_point(message) ? 1 : system_.groups[group].members.size();
    if (static_cast<std::size_t>(++operation.reached) == needed) start(o);
  }
  bool slower(std::int32_t a, std::int32_t b) const {
    const ChipClass &x = system_.chips[a], &y = system_.chips[b];
    return std::tie(x.speed, x.program, x.chance, a) < std::tie(y.speed, y.program, y.chance, b);
  }
  bool point_to_point(std::int32_t message) const {
    return system_.step.messages[message].scope.point_to_point();
  }
  std::int32_t pattern_of(const Operation& operation) const { return system_.pattern_of[operation.message]; }

  // 10. Phases.
  void start(std::int32_t o) {
    Operation& operation = operations_[o];
    operation.started = now_;
    operation.phase = 0;
    accounts_.start(operation.group, operation.message);
    events_.push(now_ + system_.patterns[pattern_of(operation)].launch, [this, o] { begin_phase(o); });
  }
  const std::vector<ClassPhase>& phases_of(const Operation& operation) const {
    return system_.groups[operation.group].patterns[pattern_of(operation)];
  }
  void begin_phase(std::int32_t o) {
    const Operation& operation = operations_[o];
    if (operation.phase == phases_of(operation).size()) return complete(o);
    const ClassPhase& phase = phases_of(operation)[operation.phase];
    const double work = phase.work_per_byte * system_.step.messages[operation.message].bytes.value;
    if (phase.uses.empty() || work <= 0) return end_transfer(o);
    links_.begin(now_.ps, phase.uses, work, o);
    change_transfers(operation, +1);
  }
  void end_transfers() {
    std::vector<std::int32_t> drained;
    links_.end(now_.ps, drained);
    for (const std::int32_t o : drained) change_transfers(operations_[o], -1);
    for (const std::int32_t o : drained) end_transfer(o);
  }
  void end_transfer(std::int32_t o) {
    Operation& operation = operations_[o];
    const ClassPhase& phase = phases_of(operation)[operation.phase++];
    const Time latency = phase.latency + phase.ramp.at(system_.step.messages[operation.message].bytes);
    events_.push(now_ + latency, [this, o] { begin_phase(o); });
  }
  void change_transfers(const Operation& operation, int difference) {
    for (const std::int32_t c : system_.groups[operation.group].members)
      computations_.change_transfers(c, pattern_of(operation), difference, now_);
  }

  // 11. Ends.
  void complete(std::int32_t o) {
    const Operation ended = operations_[o];
    operations_[o].reached = 0;
    const auto stream = static_cast<Stream>(o % kNetworkStreams);
    const std::vector<std::int32_t>& members = system_.groups[ended.group].members;
    for (const std::int32_t c : members) accounts_.show(c, stream, ended.message, ended.started, now_);
    if (!point_to_point(ended.message)) {
      for (const std::int32_t c : members) leave(c, stream, ended);
      return;
    }
    Chip& destination = chips_[members[1]];
    ++destination.lane(stream).arrived;
    accounts_.sent(members[0], stream, ended.started, now_);
    leave(members[0], stream, ended);
    if (!destination.waits(Kind::kReceive, stream)) return;
    accounts_.book(members[1], Bucket::kBubble, destination.since, now_, "wait for a stage", members[0]);
    advance(members[1]);
  }
  void leave(std::int32_t c, Stream stream, const Operation& ended) {
    Chip& chip = chips_[c];
    Lane& lane = chip.lane(stream);
    const Time turn = std::exchange(lane.moved, now_);
    lane.unfinished.pop_front();
    if (!lane.unfinished.empty()) reach(c, stream);
    if (!chip.waits(Kind::kWait, stream)) return;
    if (!chip.over(*chip.at)) return accounts_.waited_before(c, std::max(chip.since, turn), ended.started);
    if (point_to_point(ended.message)) {
      accounts_.book(c, Bucket::kBubble, chip.since, now_, "send to a stage");
    } else {
      accounts_.book_wait(c, pattern_of(ended), {chip.since, turn, ended.started, now_, ended.last});
    }
    advance(c);
  }

  // 12. Copies.
  void begin_copy(std::int32_t c, Stream stream) {
    Lane& lane = chips_[c].lane(stream);
    if (lane.copying || lane.unfinished.empty()) return;
    const std::deque<Launched>& sends = chips_[c].lane(Stream::kToHost).unfinished;
    const Launched& first = lane.unfinished.front();
    if (!sends.empty() && sends.front().number < first.number) return;
    lane.copying = true;
    events_.push(now_ + first.what->duration, [this, c, stream] { end_copy(c, stream); });
  }
  void end_copy(std::int32_t c, Stream stream) {
    Chip& chip = chips_[c];
    Lane& lane = chip.lane(stream);
    accounts_.show(c, stream, -1, now_ - lane.unfinished.front().what->duration, now_);
    lane.unfinished.pop_front();
    lane.copying = false;
    for (const Stream each : {Stream::kToHost, Stream::kFromHost}) begin_copy(c, each);
    if (!chip.waits(Kind::kWait, stream) || !chip.over(*chip.at)) return;
    accounts_.book(c, Bucket::kOffload, chip.since, now_, "wait for a copy");
    advance(c);
  }

  const System& system_;
  const SimulateOptions& options_;
  const StepDraws draws_;
  Time now_;
  Events events_;
  std::int64_t happened_ = 0;
  Accounts accounts_;
  Computations computations_;
  Fluid links_;                  // owners are operations
  std::vector<Time> changes_;    // [profile] the next one
  std::vector<double> factors_;  // [profile]
  std::vector<Chip> chips_;
  std::vector<Operation> operations_;  // [group * kNetworkStreams + stream]
  std::vector<Job> jobs_;
};

}  // namespace
}  // namespace reference

std::vector<Timeline> simulate_by_the_rules(const System& system, const SimulateOptions& options) {
  return reference::Reference(system, options).run();
}

}  // namespace podsim
