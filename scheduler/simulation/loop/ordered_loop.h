// The ordered loop: all events one after another, in order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/simulation/fast_forward/fast_forward.h"
#include "scheduler/simulation/loop/event_prefetch.h"
#include "scheduler/simulation/loop/operations.h"
#include "scheduler/simulation/loop/program_interpreter.h"
#include "scheduler/simulation/loop/solo_computation.h"
#include "scheduler/simulation/loop/solo_runs.h"
#include "scheduler/simulation/state/speed_changes.h"

namespace podsim {

// Rule. At an instant speeds change first, then what has drained leaves its links, then all else that is due;
// steps end and begin last. Computations whose pace has changed are foreseen anew before the queue is asked
// what is next.
//
// Carries out a step: the event queue says what is next, the program interpreter what chips do then,
// Operations what their collectives do, Computation how long they compute. It jumps over periods of loops
// that have become periodic. O(events log(chips + rendezvous)) and what the solver of shared links takes.
class OrderedLoop : public ProgramInterpreter<OrderedLoop, SoloComputation> {
 public:
  // REQUIRES: both outlive this object, and serve no other loop meanwhile.
  OrderedLoop(SystemTables& tables, const SimulateOptions& options);

  // As simulate(). REQUIRES: called once.
  std::vector<Timeline> run();

  // How often a chip did more than one thing by itself; of them on links that transfers between stages load.
  std::int64_t solo_runs() const { return solo_runs_.begun(); }
  std::int64_t solo_runs_between_transfers() const { return solo_runs_.begun_between_transfers(); }

 private:
  using Interpreter = ProgramInterpreter<OrderedLoop, SoloComputation>;
  friend Interpreter;

  // What the interpreter asks of a loop.
  void entered(std::int32_t chip, std::int32_t position) { fast_forward_.enter_segment(chip, position); }
  void start(std::int32_t rendezvous) { operations_.start(rendezvous, state_.now); }
  void operate(std::int32_t rendezvous) {
    if (operations_.advance(rendezvous, state_.now)) complete(rendezvous);
  }

  // What a chip does by itself from an instruction on goes as one.
  bool compute(std::int32_t chip) {
    return !computation_.begin_run(chip, state_.now) && Interpreter::compute(chip);
  }
  bool launch(std::int32_t chip, Stream stream) {
    return !computation_.begin_run(chip, state_.now) && Interpreter::launch(chip, stream);
  }

  // Those of the event queue, lowest slots first, with those that they make due now.
  void handle_events_of_this_instant();
  // Chips and links get the speeds that they have from now on.
  void change_speeds();
  // Ends the steps that are over and begins those that follow them. False once every job has done its steps.
  bool begin_next_steps();
  void begin_step(RunningJob& job);
  // Over as many periods as the step repeats from here; false if there is none.
  bool jump();
  // The only job has ended a step: over those that are the same once more.
  void jump_steps();

  // Goes over everything that decides what happens next, and over the totals; of state_capture.h.
  template <class Visitor>
  void visit(Visitor& state) {
    state_.event_queue.visit(state);
    state_.visit_chips(state);
    operations_.visit(state);
    computation_.visit(state, state_.now);
    solo_runs_.visit(state);
    state_.copies.visit(state);
    state_.accounts.visit(state);
  }

  Operations<SoloComputation> operations_;
  SoloRuns solo_runs_;
  FastForward fast_forward_;
  SpeedChanges speed_changes_;
  const std::vector<bool> lone_;  // [job]
  EventPrefetch event_prefetch_;
};

}  // namespace podsim
