// Step variation in the loop: how much longer each chip class computes in its present step, and when it
// pauses.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/late_launches.h"
#include "scheduler/simulation/state/running.h"
#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/step_draws.h"

namespace podsim {

// The draws of the step that each job and each chip class is in.
class StepDelays {
 public:
  // REQUIRES: all of them outlive this object; chips with draws of their own are in different classes.
  StepDelays(const System& system, const SimulateOptions& options, IndexedEventQueue& event_queue,
             std::size_t first_late_slot);

  bool any() const { return draws_.any(); }

  // The job begins this step, counted from 0, and then its chip classes.
  void begin_step(int job, int step) {
    if (draws_.any()) loads_[job] = draws_.loads(job, step);
  }
  void begin_chip(std::int32_t chip, int step);

  LateLaunches& late() { return late_; }

  // What all that the chip computes at this position of its order is multiplied by.
  double factor(std::int32_t chip, std::int32_t position) const {
    const int job = system_.step.stages[system_.chips[chip].program].job;
    return step_factor_[chip] * draws_.load_factor(loads_[job], chip, position);
  }

  // StepDraws::input_stalls.
  std::vector<Time> input_stalls(int job, int step) const { return draws_.input_stalls(job, step); }

  // Leads the chip to the pause that comes right before its position, once, and then back to that position.
  // False where there is none.
  bool enter_pause(std::int32_t chip, RunningChip& running) {
    if (pauses_.empty() || pauses_[chip].before != running.position) return false;
    --running.position;
    running.enter_segment(pauses_[chip].segment);
    pauses_[chip].before = kNever;
    return true;
  }

 private:
  static constexpr std::int32_t kNever = -1;

  struct Pause {
    std::int32_t before = kNever;      // position
    std::vector<Instruction> segment;  // of one instruction
  };

  const System& system_;
  const StepDraws draws_;
  LateLaunches late_;
  std::vector<std::vector<MicrobatchLoad>> loads_;  // [job] of its present step; empty without lengths
  std::vector<double> step_factor_;                 // [chip], of its present step
  std::vector<Pause> pauses_;                       // [chip], empty without garbage collection
};

}  // namespace podsim
