// The one stateful stage.
#include "scheduler/simulate.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/event_queue.h"
#include "engine/fluid.h"
#include "scheduler/accounts.h"
#include "scheduler/computation.h"
#include "scheduler/host_copies.h"
#include "scheduler/running.h"

namespace podsim {
namespace {

constexpr double kTicksPerSecond = 1e12;  // a tick is a picosecond

class Simulation {
 public:
  Simulation(const System& system, const SimulateOptions& options)
      : system_(system),
        options_(options),
        accounts_(system, options.keep_intervals),
        computation_(system, options, queue_, accounts_),
        copies_(system.chips.size(), queue_),
        links_(link_capacities(system), kTicksPerSecond),
        jobs_(system.meshes.size()),
        chips_(system.chips.size()),
        meetings_(system.groups.size() * kNetworkStreams) {
    for (std::size_t m = 0; m < meetings_.size(); ++m) {
      meetings_[m].group = static_cast<std::int32_t>(m / kNetworkStreams);
      meetings_[m].stream = static_cast<Stream>(m % kNetworkStreams);
    }
    for (std::size_t c = 0; c < chips_.size(); ++c)
      job_of(static_cast<std::int32_t>(c)).chips.push_back(static_cast<std::int32_t>(c));
  }

  std::vector<Timeline> run() {
    for (RunningJob& job : jobs_) begin_step(job);
    while (turn_steps()) {
      const Time drain{links_.next()};
      now_ = queue_.empty() ? drain : std::min(drain, queue_.next_time());
      PODSIM_CHECK(now_.ps < kNever, "the step has stopped: chips wait for each other");
      if (now_ == drain) drain_transfers();
      while (!queue_.empty() && queue_.next_time() == now_) handle(queue_.pop());
    }
    return accounts_.timelines(events_);
  }

 private:
  // Ends the steps that are over and begins those that follow them. False once every job has done its steps.
  bool turn_steps() {
    for (bool over = true; over;) {
      for (std::size_t j = 0; j < jobs_.size(); ++j)
        if (jobs_[j].running == 0) end_step(static_cast<int>(j));
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
    job.begin_step(now_, system_.step.stages[system_.chips[job.chips.front()].program].input);
    job.running = static_cast<int>(job.chips.size());
    for (const std::int32_t c : job.chips) {
      RunningChip& chip = chips_[c];
      chip.segment = chip.instruction = 0;
      accounts_.turn_to(c, 0);
      chip.ended = false;
      chip.host = now_;
      std::fill(std::begin(chip.arrived), std::end(chip.arrived), 0);
      std::fill(std::begin(chip.consumed), std::end(chip.consumed), 0);
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

  RunningJob& job_of(std::int32_t c) { return jobs_[system_.step.stages[system_.chips[c].program].job]; }

  void handle(const Event& event) {
    ++events_;
    switch (event.kind) {
      case Event::Kind::kComputed:
        if (computation_.ends(event)) computed(event.index);
        break;
      case Event::Kind::kPhaseBegins:
        begin_phase(event.index);
        break;
      case Event::Kind::kArrived:
        ++meetings_[event.index].phase;
        begin_phase(event.index);
        break;
      case Event::Kind::kCopied:
        copied(event.index, static_cast<Stream>(event.version));
        break;
    }
  }

  // Chips: what each does next.

  const std::vector<Instruction>* segment_of(std::int32_t c) const {
    const StageProgram& program = system_.step.stages[system_.chips[c].program];
    if (chips_[c].segment == program.order.size()) return nullptr;
    return &program.segments[program.order[chips_[c].segment]];
  }

  // Issues instructions until the chip computes, waits, or has ended its step.
  void advance(std::int32_t c) {
    RunningChip& chip = chips_[c];
    for (;;) {
      const std::vector<Instruction>* segment = segment_of(c);
      if (!segment) {
        chip.ended = true;
        chip.since = now_;
        --job_of(c).running;
        return;
      }
      if (chip.instruction == segment->size()) {
        accounts_.turn_to(c, ++chip.segment);
        chip.instruction = 0;
        continue;
      }
      const Instruction& instruction = (*segment)[chip.instruction];
      if (!issue(c, instruction)) return;
      ++chip.instruction;
    }
  }

  // False when the chip has to stay at this instruction.
  bool issue(std::int32_t c, const Instruction& instruction) {
    RunningChip& chip = chips_[c];
    switch (instruction.kind) {
      case Instruction::Kind::kCompute:
        chip.since = now_;
        computation_.begin(c, now_, instruction.duration);
        return false;
      case Instruction::Kind::kInput: {
        const Time ready = job_of(c).next_batch;
        if (ready <= now_) return true;
        chip.since = now_;
        computation_.begin_pause(c, now_, ready - now_);
        return false;
      }
      case Instruction::Kind::kHost:
        chip.host += instruction.duration;
        if (chip.host <= now_) return true;
        chip.since = now_;
        computation_.begin_pause(c, now_, chip.host - now_);
        return false;
      case Instruction::Kind::kSynchronise:
        chip.host = std::max(chip.host, now_);
        return true;
      case Instruction::Kind::kLaunch: {
        auto& queue = chip.queue[static_cast<int>(instruction.stream)];
        queue.push_back({instruction.message, now_});
        if (queue.size() == 1) reach(c, instruction.stream);
        return true;
      }
      case Instruction::Kind::kCopy:
        copies_.launch(c, instruction.stream, now_, instruction.duration);
        return true;
      case Instruction::Kind::kWait:
        if (unfinished(c, instruction.stream) <= instruction.pending) return true;
        break;
      case Instruction::Kind::kReceive: {
        const int stream = static_cast<int>(instruction.stream);
        if (chip.arrived[stream] > chip.consumed[stream]) {
          ++chip.consumed[stream];
          chip.host = std::max(chip.host, now_);
          return true;
        }
        break;
      }
    }
    chip.blocked = true;
    chip.since = now_;
    return false;
  }

  int unfinished(std::int32_t c, Stream stream) const {
    return copies(stream) ? copies_.unfinished(c, stream)
                          : static_cast<int>(chips_[c].queue[static_cast<int>(stream)].size());
  }

  void computed(std::int32_t c) {
    RunningChip& chip = chips_[c];
    const Instruction& instruction = (*segment_of(c))[chip.instruction];
    const Time lost = computation_.end(c, now_);
    if (instruction.kind == Instruction::Kind::kHost) {
      accounts_.spend(c, instruction.bucket, chip.since, now_, "wait for the host");
    } else {
      accounts_.compute(c, instruction.bucket, chip.since, now_, lost);
    }
    ++chip.instruction;
    advance(c);
  }

  void copied(std::int32_t c, Stream stream) {
    accounts_.show(c, stream, -1, copies_.end(c, stream, now_), now_);
    const Instruction* waiting = blocked_at(c, Instruction::Kind::kWait, stream);
    if (!waiting || unfinished(c, stream) > waiting->pending) return;
    accounts_.spend(c, Bucket::kOffload, chips_[c].since, now_, "wait for a copy");
    go_on(c);
  }

  // Meetings: the collectives and transfers of groups.

  std::int32_t meeting_of(std::int32_t c, Stream stream, std::int32_t message) const {
    std::int32_t group = system_.chips[c].group_class[system_.communicator_of[message]];
    PODSIM_CHECK(group >= 0, "a chip launches only what its groups do");
    return group * kNetworkStreams + static_cast<std::int32_t>(stream);
  }

  bool point_to_point(std::int32_t message) const {
    return system_.step.messages[message].scope.neighbour != 0;
  }

  // An order of chips that folding does not change, for ties.
  bool slower(std::int32_t a, std::int32_t b) const {
    const ChipClass &x = system_.chips[a], &y = system_.chips[b];
    return x.speed != y.speed ? x.speed < y.speed : x.program < y.program;
  }

  // The first operation of the chip's stream has come to its turn.
  void reach(std::int32_t c, Stream stream) {
    Queued& front = chips_[c].queue[static_cast<int>(stream)].front();
    front.reached = now_;
    std::int32_t m = meeting_of(c, stream, front.message);
    Meeting& meeting = meetings_[m];
    PODSIM_CHECK(meeting.reached == 0 || meeting.message == front.message,
                 "members issue the same operations in the same order");
    meeting.message = front.message;
    if (meeting.reached == 0 || meeting.last_reached < now_ || slower(c, meeting.last)) meeting.last = c;
    meeting.last_reached = now_;
    ++meeting.reached;
    int needed =
        point_to_point(front.message) ? 1 : static_cast<int>(system_.groups[meeting.group].members.size());
    if (meeting.reached < needed) return;
    PODSIM_CHECK(!meeting.running, "a stream runs one operation at a time");
    meeting.running = true;
    meeting.started = now_;
    meeting.phase = 0;
    queue_.push(now_ + system_.patterns[system_.pattern_of[meeting.message]].launch,
                {Event::Kind::kPhaseBegins, m, 0});
  }

  const std::vector<ClassPhase>& phases_of(const Meeting& meeting) const {
    return system_.groups[meeting.group].patterns[system_.pattern_of[meeting.message]];
  }

  Time latency_of(const Meeting& meeting) const {
    const ClassPhase& phase = phases_of(meeting)[meeting.phase];
    return phase.latency + phase.ramp.at(system_.step.messages[meeting.message].bytes);
  }

  void begin_phase(std::int32_t m) {
    Meeting& meeting = meetings_[m];
    const std::vector<ClassPhase>& phases = phases_of(meeting);
    if (meeting.phase == phases.size()) {
      complete(m);
      return;
    }
    const ClassPhase& phase = phases[meeting.phase];
    const double work = phase.work_per_byte * system_.step.messages[meeting.message].bytes.value;
    if (phase.uses.empty() || work <= 0) {
      queue_.push(now_ + latency_of(meeting), {Event::Kind::kArrived, m, 0});
      return;
    }
    accounts_.carry(system_.step.messages[meeting.message].scope.job, phase.uses, work);
    accounts_.carry(system_.step.messages[meeting.message].scope.job, phase.slack_uses, work);
    links_.begin(now_.ps, phase.uses, work, m);
    change_transfers(meeting, +1);
  }

  // Transfers leave the links in the order in which they came; their last bytes arrive a latency later.
  void drain_transfers() {
    drained_.clear();
    links_.end(now_.ps, drained_);
    for (const std::int32_t m : drained_) {
      ++events_;
      change_transfers(meetings_[m], -1);
      queue_.push(now_ + latency_of(meetings_[m]), {Event::Kind::kArrived, m, 0});
    }
  }

  void change_transfers(const Meeting& meeting, int difference) {
    for (std::int32_t c : system_.groups[meeting.group].members)
      computation_.change_transfers(c, system_.pattern_of[meeting.message], difference, now_);
  }

  // What the accounts need of an operation that has ended; its meeting may already gather for the next one.
  struct Ended {
    Stream stream;
    std::int32_t message;
    std::int32_t last;
    Time started;
  };

  void complete(std::int32_t m) {
    Meeting& meeting = meetings_[m];
    const Ended ended{meeting.stream, meeting.message, meeting.last, meeting.started};
    meeting.running = false;
    meeting.reached = 0;
    const std::vector<std::int32_t>& members = system_.groups[meeting.group].members;
    for (const std::int32_t c : members) accounts_.show(c, ended.stream, ended.message, ended.started, now_);
    if (point_to_point(ended.message)) {
      ++chips_[members[1]].arrived[static_cast<int>(ended.stream)];
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
    auto& queue = chips_[c].queue[static_cast<int>(ended.stream)];
    const Time reached = queue.front().reached;
    queue.pop_front();
    if (!queue.empty()) reach(c, ended.stream);
    const Instruction* waiting = blocked_at(c, Instruction::Kind::kWait, ended.stream);
    if (!waiting || static_cast<int>(queue.size()) > waiting->pending) return;
    account_wait(c, ended, reached);
    go_on(c);
  }

  void resume_receive(std::int32_t c, const Ended& ended) {
    if (!blocked_at(c, Instruction::Kind::kReceive, ended.stream)) return;
    accounts_.spend(c, Bucket::kBubble, chips_[c].since, now_, "wait for a stage");
    go_on(c);
  }

  // The instruction that holds the chip up, when it is of this kind and stream.
  const Instruction* blocked_at(std::int32_t c, Instruction::Kind kind, Stream stream) const {
    if (!chips_[c].blocked) return nullptr;
    const Instruction& instruction = (*segment_of(c))[chips_[c].instruction];
    return instruction.kind == kind && instruction.stream == stream ? &instruction : nullptr;
  }

  void go_on(std::int32_t c) {
    chips_[c].blocked = false;
    advance(c);
  }

  const System& system_;
  const SimulateOptions& options_;
  EventQueue<Event> queue_;
  Accounts accounts_;
  Computation computation_;
  HostCopies copies_;
  Fluid links_;  // owners of what drains are meetings
  Time now_;
  std::int64_t events_ = 0;
  std::vector<RunningJob> jobs_;
  std::vector<RunningChip> chips_;
  std::vector<Meeting> meetings_;
  std::vector<std::int32_t> drained_;
};

}  // namespace

std::vector<Timeline> simulate(const System& system, const SimulateOptions& options) {
  return Simulation(system, options).run();
}

}  // namespace podsim
