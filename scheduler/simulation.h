// The event loop's state, and what may happen to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/agenda.h"
#include "scheduler/accounts.h"
#include "scheduler/computation.h"
#include "scheduler/host_copies.h"
#include "scheduler/islands.h"
#include "scheduler/jumps.h"
#include "scheduler/operations.h"
#include "scheduler/running.h"
#include "scheduler/running_lanes.h"
#include "scheduler/simulate.h"
#include "scheduler/step_delays.h"
#include "scheduler/upcoming.h"
#include "scheduler/weather.h"

namespace podsim {

// Slots of the agenda: computations of chip classes, meetings, copies of chips, late launches of chips.
class Simulation {
 public:
  // REQUIRES: both outlive this object.
  Simulation(const System& system, const SimulateOptions& options);

  // As simulate().
  std::vector<Timeline> run();

 private:
  // simulate.cc: events, steps, and what is jumped over.
  bool over();
  void handle(std::size_t slot);
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
  bool turn_to(std::int32_t c, std::int32_t position);
  void advance(std::int32_t c);
  bool issue(std::int32_t c, const Instruction& instruction);
  Time draw_run(std::int32_t c);
  bool over_before(std::int32_t c, const Instruction& wait);
  bool pause(std::int32_t c, Time length);
  int unfinished(std::int32_t c, Stream stream);
  void launch(std::int32_t c, Stream stream);
  void launch_late(std::int32_t c);
  void computed(std::int32_t c);
  void copied(std::int32_t c, Stream stream);
  void go_on(std::int32_t c);

  // meetings.cc: the collectives and transfers of groups.
  void reach(std::int32_t c, Stream stream);
  void start(std::int32_t m);
  bool starts(std::size_t slot);
  void complete(std::int32_t m);
  void account_wait(std::int32_t c, const Ended& ended, Time reached);
  void leave(std::int32_t c, const Ended& ended);
  void resume_receive(std::int32_t c, const Ended& ended);

  // apart.cc: islands one by one.
  void list_island_slots();
  bool come_apart() const {
    return islands_.any() && shared_under_way_ == 0 && to_start_ == 0 && operations_.sharing() == 0;
  }
  bool run_apart();
  void run_island(std::size_t island, Time until);
  void reach_shared(const Meeting& meeting);
  bool island_ended(std::size_t island) const;

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

  // Islands; none where all is one.
  const Islands islands_;
  std::vector<std::vector<std::size_t>> island_slots_;
  int shared_under_way_ = 0;  // shared operations that somebody has reached and that are not over
  int to_start_ = 0;          // operations that all have reached and whose start is an event to come
  Time furthest_;             // that any island has been taken to
  enum class Mode { kTogether, kUntilShared, kUntilFurthest } mode_ = Mode::kTogether;
  // Why the island that runs does not go on: it has reached what is shared; it has something to start
  // together with others, or has ended the step.
  enum class Stop { kNone, kShared, kHeld } stop_ = Stop::kNone;
};

}  // namespace podsim
