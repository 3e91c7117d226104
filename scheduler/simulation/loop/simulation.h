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
#include "scheduler/simulation/state/stream_progress.h"

namespace podsim {

// Slots of the agenda: computations of chip classes, meetings, copies of chips, late launches of chips,
// islands.
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
  void change_weather();
  bool turn_steps();
  void begin_step(RunningJob& job);
  void end_step(int j);
  bool jump();
  void jump_steps();
  bool any_step_over() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [](const RunningJob& job) { return job.running == 0; });
  }

  // chip_programs.cc: what a chip does next.
  void tell_share();
  bool turn_to(std::int32_t c, std::int32_t position);
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
  void come_to(std::int32_t c, const LaneOperation& operation, Time at);
  void complete(std::int32_t m);
  void account_wait(std::int32_t c, const Ended& ended, Time reached);
  void leave(std::int32_t c, const Ended& ended);
  void resume_receive(std::int32_t c, const Ended& ended);

  // conservative_sync.cc: islands one by one.
  void set_islands_apart();
  void take_to_present(std::int32_t island);
  bool take_in_order_of_time(std::int32_t island, std::int64_t most_events);
  void heed(const Inboxes::Notice& notice);
  void take_all_to_present();
  Time next_concern(std::int32_t island);
  Concern concern_of(std::int32_t c);
  bool more_may_start(std::int32_t c);
  bool late_launches() const { return first_late_ < first_island_; }
  Time concern_after_wait(std::int32_t c);
  Time least_work(std::int32_t c);
  bool may_share_links(std::int32_t island) const;
  void start(std::int32_t m);
  bool starts(std::size_t slot);
  void end_crossing(std::int32_t m);

  // in_program_order.cc: the chips of an island one by one.
  bool follow_programs() const;
  bool taken_in_turn(Stream stream) const {
    return turn_.under_way() && !copies(stream) && islands_.inner(stream);
  }
  void take_in_program_order(std::int32_t island);
  void begin_lanes(std::int32_t c);
  void take_notices(std::int32_t island);
  void go_to_horizon();
  void go_on_if_known(std::int32_t c);
  bool stand(std::int32_t c, Stream stream);
  bool go_on_from_launches();
  bool go_on_with_earliest();
  bool hold(std::int32_t c);
  bool run_in_turn(std::int32_t c, Time length);
  // What the chip computes ends then. False where that is not known.
  bool ended_in_turn(std::int32_t c, Time end) {
    if (end == Time::max()) return false;
    PODSIM_CHECK(end <= turn_.horizon(), "what lies ahead of the horizon is not known");
    ++events_;
    accounts_.compute(c, chips_[c].at->bucket, now_, end, computation_.lost(c));
    now_ = end;
    return true;
  }
  bool ends_by_horizon(std::int32_t c);
  void end_computation(std::int32_t c, Time end);
  void launch_in_turn(std::int32_t c, Stream stream);
  void reach_in_turn(std::int32_t c, Turn::Lane& lane, Time at);
  void start_in_turn(std::int32_t m);
  void conclude(std::int32_t m, Time started, Time ended);
  bool wait_in_turn(std::int32_t c, const Instruction& wait, Turn::Lane& lane);

  // in_lockstep.cc: the chips of an island all together.
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

  std::int32_t place_of(std::int32_t c) const { return islands_.place[c]; }
  Turn::Lane& known_of(std::int32_t c, Stream stream) {
    return turn_.lane(static_cast<std::size_t>(place_of(c)), stream);
  }
  Time settled(std::int32_t c) const { return std::max(chips_[c].since, turn_.from()); }

  const StageProgram& program_of(const RunningChip& chip) const { return system_.step.stages[chip.program]; }
  RunningJob& job_of(const RunningChip& chip) { return jobs_[program_of(chip).job]; }
  RunningLane& lane_of(std::int32_t c, Stream stream) { return lanes_.of(c, chips_[c].program, stream); }
  bool point_to_point(std::int32_t message) const {
    return system_.step.messages[message].scope.neighbour != 0;
  }

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

  const System& system_;
  const SimulateOptions& options_;
  RunningLanes lanes_;
  const Islands islands_;                                                     // none where all is one
  const std::size_t first_meeting_, first_copy_, first_late_, first_island_;  // slots
  Agenda agenda_;
  Accounts accounts_;
  Computation computation_;
  Inboxes inboxes_;
  std::vector<Meeting> meetings_;
  Operations operations_;
  HostCopies copies_;
  StepDelays delays_;
  Jumps jumps_;
  Weather weather_;
  Time now_;      // of what is being handled
  Time present_;  // of all that is shared; an island is taken on from behind it
  std::int64_t events_ = 0;
  std::int64_t tell_at_;  // events
  std::vector<RunningJob> jobs_;
  std::vector<RunningChip> chips_;
  std::vector<Concern> concern_;  // [chip], found when it last went on; empty without islands
  Upcoming upcoming_;

  const Lookahead lookahead_;
  std::vector<std::int32_t> crossings_;  // [island] operations under way that cross it
  int to_start_ = 0;                     // that cross islands: their start is an event to come
  const bool in_turn_;                   // islands may be taken on chip by chip
  Turn turn_;
  Lockstep lockstep_;
  std::vector<Time> taken_to_;  // [island]
  Places gone_on_;              // of the island that is taken on
  // [island] How long chips that wait for others of it compute at least before they concern others.
  std::vector<Time> after_event_;
  std::vector<Time> rounded_;  // [island] the least Concern::time that has room for rounding
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
