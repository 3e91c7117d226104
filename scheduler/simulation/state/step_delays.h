// The draws of step variation: how much longer each chip class computes in a step, and when it pauses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/random.h"
#include "scheduler/folding/system.h"
#include "scheduler/question/random_delays.h"
#include "scheduler/simulation/state/late_launches.h"
#include "scheduler/simulation/state/running.h"
#include "scheduler/simulation/state/simulate_options.h"

namespace podsim {

// Every draw is addressed by seed, purpose, entity and step, so that neither the order of events nor what
// else goes wrong changes it. A class has the draws of its representative.
class StepDelays {
 public:
  // REQUIRES: all of them outlive this object; chips with draws of their own are in different classes.
  StepDelays(const System& system, const SimulateOptions& options, IndexedEventQueue& event_queue,
             std::size_t first_late_slot);

  bool any() const { return any_; }

  // The job begins this step, counted from 0, and then its chip classes.
  void begin_step(int job, int step);
  void begin_chip(std::int32_t chip, int step);

  LateLaunches& late() { return late_; }

  // What all that the chip computes at this position of its order is multiplied by.
  double factor(std::int32_t chip, std::int32_t position) const;

  // How much longer than without chance each host of the job loads the batch that the job asks for when it
  // begins this step; empty where loads do not stall.
  const std::vector<Time>& input_stalls(int job, int step);

  // Turns the chip to the pause that comes right before its position, once, and then back to that position.
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

  std::uint64_t number_of(Entity entity, std::int32_t chip) const;
  double step_factor(std::int32_t chip, std::uint64_t step) const;
  double microbatch_factor(std::int32_t chip, std::int32_t position) const;
  void draw_pause(std::int32_t chip, std::uint64_t step);

  const System& system_;
  const StepVariation& variation_;
  const std::uint64_t seed_;
  const bool any_;
  LateLaunches late_;
  std::array<Lognormal, kEntities> of_step_;
  Lognormal of_run_, of_pause_;
  std::vector<ChipId> first_chip_;                  // [job], its lowest chip stands for it
  std::vector<std::int64_t> hosts_;                 // [job]
  std::vector<Time> stalls_;                        // [host] of the step that has begun last
  std::vector<std::vector<MicrobatchLoad>> loads_;  // [job] of its present step; empty without lengths
  std::vector<double> step_factor_;                 // [chip], of its present step
  std::vector<Pause> pauses_;                       // [chip], empty without garbage collection
};

}  // namespace podsim
