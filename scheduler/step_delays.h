// The draws of step variation: how much longer each chip class computes in a step, and when it pauses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/random.h"
#include "scheduler/random_delays.h"
#include "scheduler/simulate.h"
#include "scheduler/system.h"

namespace podsim {

// Every draw is addressed by seed, purpose, entity and step, so that neither the order of events nor what
// else goes wrong changes it. A class has the draws of its representative.
class StepDelays {
 public:
  // REQUIRES: both outlive this object; chips with draws of their own are in different classes.
  StepDelays(const System& system, const SimulateOptions& options);

  bool any() const { return any_; }

  // The chip class begins this step of its job, counted from 0. Returns the factor of all that it computes.
  double begin_step(std::int32_t chip, int step);

  // The pause that comes right before this position of the chip's order, once; null where there is none.
  const std::vector<Instruction>* pause_before(std::int32_t chip, std::int32_t position) {
    if (pauses_.empty() || pauses_[chip].before != position) return nullptr;
    pauses_[chip].before = kNever;
    return &pauses_[chip].segment;
  }

 private:
  static constexpr std::int32_t kNever = -1;

  struct Pause {
    std::int32_t before = kNever;      // position
    std::vector<Instruction> segment;  // of one instruction
  };

  std::uint64_t number_of(Entity entity, std::int32_t chip) const;
  double factor(std::int32_t chip, std::uint64_t step) const;
  void draw_pause(std::int32_t chip, std::uint64_t step);

  const System& system_;
  const StepVariation& variation_;
  const std::uint64_t seed_;
  const bool any_;
  std::array<Lognormal, kEntities> of_step_;
  Lognormal of_run_, of_pause_;
  std::vector<ChipId> first_chip_;  // [job], its lowest chip stands for it
  std::vector<Pause> pauses_;       // [chip], empty without garbage collection
};

}  // namespace podsim
