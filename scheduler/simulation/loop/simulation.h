// The event loop's state, and what may happen to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/check.h"
#include "engine/indexed_event_queue.h"
#include "scheduler/simulation/fast_forward/fast_forward.h"
#include "scheduler/simulation/logical_processes/lockstep.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/logical_processes/lookahead.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"
#include "scheduler/simulation/loop/computation.h"
#include "scheduler/simulation/loop/event_prefetch.h"
#include "scheduler/simulation/loop/lp_mailboxes.h"
#include "scheduler/simulation/loop/operations.h"
#include "scheduler/simulation/state/accounts.h"
#include "scheduler/simulation/state/host_copies.h"
#include "scheduler/simulation/state/running.h"
#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/speed_changes.h"
#include "scheduler/simulation/state/step_delays.h"
#include "scheduler/simulation/state/stream_queues.h"

namespace podsim {

// Slots of the event queue: computations of chip classes, rendezvous, copies of chips, late launches of
// chips, logical processes.
class Simulation {
 public:
  // REQUIRES: both outlive this object.
  Simulation(const System& system, const SimulateOptions& options);

  // As simulate().
  std::vector<Timeline> run();

 private:
  // simulation.cc: events, steps, and what is jumped over.
  bool over();
  void handle(std::size_t slot);
  void happen(std::size_t slot);
  void change_speeds();
  bool begin_next_steps();
  void begin_step(RunningJob& job);
  void end_step(int j);
  bool jump();
  void jump_steps();
  bool any_step_over() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [](const RunningJob& job) { return job.running == 0; });
  }

  // chip_programs.cc: what a chip does next.
  void tell_share();
  bool enter_segment(std::int32_t c, std::int32_t position);
  void advance(std::int32_t c);
  bool issue(std::int32_t c, const Instruction& instruction);
  Time draw_run(std::int32_t c);
  template <class OverBefore>
  Time draw_run(std::int32_t c, OverBefore&& over_before);
  bool over_before(std::int32_t c, const Instruction& wait);
  bool pause(std::int32_t c, Time length);
  bool compute(std::int32_t c);
  bool wait(std::int32_t c, const Instruction& instruction);
  bool block(std::int32_t c);
  int unfinished(std::int32_t c, Stream stream);
  void launch(std::int32_t c, Stream stream);
  void launch_late(std::int32_t c);
  void computed(std::int32_t c);
  void account_computation(std::int32_t c);
  void copied(std::int32_t c, Stream stream);
  void go_on(std::int32_t c);

  // rendezvous.cc: the collectives and transfers of groups.
  void reach(std::int32_t c, Stream stream);
  void come_to(std::int32_t c, const StreamOperation& operation, Time at);
  void complete(std::int32_t m);
  void account_wait(std::int32_t c, const Ended& ended, Time reached);
  void leave(std::int32_t c, const Ended& ended);
  void resume_receive(std::int32_t c, const Ended& ended);

  // conservative_sync.cc: logical processes one by one.
  void set_processes_apart();
  void take_to_present(std::int32_t process);
  bool take_in_order_of_time(std::int32_t process, std::int64_t most_events);
  void heed(const LpMailboxes::LpMessage& message);
  void take_all_to_present();
  Time next_output(std::int32_t process);
  EarliestOutput earliest_output_of(std::int32_t c);
  bool more_may_start(std::int32_t c);
  bool late_launches() const { return first_late_ < first_process_; }
  Time output_after_wait(std::int32_t c);
  Time least_work(std::int32_t c);
  bool may_share_links(std::int32_t process) const;
  void start(std::int32_t m);
  bool starts(std::size_t slot);
  void end_crossing(std::int32_t m);

  // in_program_order.cc: the chips of a logical process one by one.
  bool follow_programs() const;
  bool taken_ahead(Stream stream) const {
    return lp_advance_.under_way() && !copies(stream) && processes_.inner(stream);
  }
  void take_in_program_order(std::int32_t process);
  void begin_queues(std::int32_t c);
  void take_messages(std::int32_t process);
  void go_to_horizon();
  void go_on_if_known(std::int32_t c);
  bool stand(std::int32_t c, Stream stream);
  bool go_on_from_launches();
  bool go_on_with_earliest();
  bool hold(std::int32_t c);
  bool run_ahead(std::int32_t c, Time length);
  // What the chip computes ends then. False where that is not known.
  bool ended_ahead(std::int32_t c, Time end) {
    if (end == Time::max()) return false;
    PODSIM_CHECK(end <= lp_advance_.horizon(), "what lies ahead of the horizon is not known");
    ++events_;
    accounts_.compute(c, chips_[c].at->bucket, now_, end, computation_.lost(c));
    now_ = end;
    return true;
  }
  bool ends_by_horizon(std::int32_t c);
  void end_computation(std::int32_t c, Time end);
  void launch_ahead(std::int32_t c, Stream stream);
  void reach_ahead(std::int32_t c, LpAdvance::KnownEndings& queue, Time at);
  void start_ahead(std::int32_t m);
  void conclude(std::int32_t m, Time started, Time ended);
  bool wait_ahead(std::int32_t c, const Instruction& wait, LpAdvance::KnownEndings& queue);

  // in_lockstep.cc: the chips of a logical process all together.
  bool go_in_lockstep();
  bool line_up();
  bool launch_together();
  bool start_together();
  bool walk_all();
  bool walk(Lockstep::Chip& chip);
  bool run_in_lockstep(Lockstep::Chip& chip, Time length);
  void tell(Lockstep::Chip& chip);
  void fall_out(const Lockstep::Chip& chip);
  void walk_alone(std::int32_t c);

  std::int32_t place_of(std::int32_t c) const { return processes_.place[c]; }
  LpAdvance::KnownEndings& known_of(std::int32_t c, Stream stream) {
    return lp_advance_.queue(static_cast<std::size_t>(place_of(c)), stream);
  }
  Time settled(std::int32_t c) const { return std::max(chips_[c].since, lp_advance_.from()); }

  const StageProgram& program_of(const RunningChip& chip) const { return system_.step.stages[chip.program]; }
  RunningJob& job_of(const RunningChip& chip) { return jobs_[program_of(chip).job]; }
  StreamQueue& queue_of(std::int32_t c, Stream stream) { return queues_.of(c, chips_[c].program, stream); }
  bool point_to_point(std::int32_t message) const {
    return system_.step.messages[message].scope.neighbour != 0;
  }

  // Goes over everything that decides what happens next, and over the totals.
  template <class Visitor>
  void visit(Visitor& state) {
    event_queue_.visit(state);
    for (std::size_t c = 0; c < chips_.size(); ++c) {
      chips_[c].visit(state);
      queues_.visit(state, static_cast<std::int32_t>(c), chips_[c].program);
    }
    operations_.visit(state);
    computation_.visit(state, now_);
    copies_.visit(state);
    accounts_.visit(state);
  }

  const System& system_;
  const SimulateOptions& options_;
  StreamQueues queues_;
  const LogicalProcesses processes_;                                              // none where all is one
  const std::size_t first_rendezvous_, first_copy_, first_late_, first_process_;  // slots
  IndexedEventQueue event_queue_;
  Accounts accounts_;
  Computation computation_;
  LpMailboxes mailboxes_;
  std::vector<Rendezvous> all_rendezvous_;
  Operations operations_;
  HostCopies copies_;
  StepDelays delays_;
  FastForward fast_forward_;
  SpeedChanges speed_changes_;
  Time now_;      // of what is being handled
  Time present_;  // of all that is shared; a logical process is taken on from behind it
  std::int64_t events_ = 0;
  std::int64_t tell_at_;  // events
  std::vector<RunningJob> jobs_;
  std::vector<RunningChip> chips_;
  std::vector<EarliestOutput>
      earliest_output_;  // [chip], found when it last went on; empty without logical processes
  EventPrefetch event_prefetch_;

  const Lookahead lookahead_;
  std::vector<std::int32_t> crossings_;  // [logical process] operations under way that cross it
  int to_start_ = 0;                     // that cross logical processes: their start is an event to come
  const bool ahead_;                     // logical processes may be taken on chip by chip
  LpAdvance lp_advance_;
  Lockstep lockstep_;
  std::vector<Time> taken_to_;  // [logical process]
  Places gone_on_;              // of the logical process that is taken on
  // [logical process] How long chips that wait for others of it compute at least before they concern others.
  std::vector<Time> after_event_;
  std::vector<Time> rounded_;  // [logical process] the least EarliestOutput::time that has room for rounding
};

// How long the chip computes until anything else can happen to it. Under jitter it goes on to the last
// computation of the bucket that follows at once, each with a draw of its own; without jitter lowering has
// joined them.
template <class OverBefore>
Time Simulation::draw_run(std::int32_t c, OverBefore&& over_before) {
  RunningChip& chip = chips_[c];
  const Instruction* at = chip.at;
  Time run = computation_.draw_length(c, at->duration);
  if (!computation_.draws()) return run;
  for (const Instruction* next = at + 1; next != chip.end; ++next) {
    if (next->kind == Instruction::Kind::kCompute && next->bucket == at->bucket) {
      run += computation_.draw_length(c, next->duration);
      at = next;
    } else if (next->kind != Instruction::Kind::kWait || !over_before(*next)) {
      break;
    }
  }
  chip.at = at;
  return run;
}

}  // namespace podsim
