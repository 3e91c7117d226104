// What is drawn for whole steps: factors of computation, pauses, stalls of the input, late launches.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/random.h"
#include "scheduler/folding/system.h"
#include "scheduler/question/random_delays.h"
#include "scheduler/simulation/state/simulate_options.h"

namespace podsim {

// Every draw is addressed by seed, purpose, entity and step, so that neither the order of events nor what
// else goes wrong changes it. A class has the draws of its representative.
class StepDraws {
 public:
  // REQUIRES: both outlive this object; chips with draws of their own are in different classes.
  StepDraws(const System& system, const SimulateOptions& options);

  bool any() const { return any_; }  // otherwise all factors are 1 and nothing else is drawn

  // What all that the chip computes in a step of its job, counted from 0, is multiplied by: never so
  // little that its passes would be faster than the peaks of the chip. Throws StepTooLong where that makes
  // one of its computations longer than a step may be, beside transfers.
  double step_factor(std::int32_t chip, int step) const;

  // The microbatches of a step of the job; none where its documents have no lengths.
  std::vector<MicrobatchLoad> loads(int job, int step) const;
  // Mean of MicrobatchLoad::attention over these steps; empty where documents have no lengths. Draws and
  // deals the documents anew: O(documents x log microbatches) for each step.
  std::vector<double> mean_attention(int job, int steps) const;
  // What the chip computes at a position of its order is multiplied by this too. REQUIRES: `loads` are of its
  // job, or none.
  double load_factor(const std::vector<MicrobatchLoad>& loads, std::int32_t chip,
                     std::int32_t position) const;

  // Each of the delays below throws StepTooLong where it is longer than a step may be.

  // The pause of a chip's worker in a step, right before a position of its order.
  struct Pause {
    std::int32_t before;
    Time length;
  };
  bool pauses() const { return variation_.collection.every_steps > 0; }
  std::optional<Pause> pause(std::int32_t chip, int step) const;

  // How much longer than without chance each host of the job loads the batch that the job asks for when it
  // begins this step; empty where loads do not stall.
  std::vector<Time> input_stalls(int job, int step) const;

  // By how much the host is late in a step with launches that follow this rule of StepVariation::late.
  Time lateness(const LateLaunch& rule, int step) const;

 private:
  std::uint64_t number_of(Entity entity, std::int32_t chip) const;
  void list_longest();

  const System& system_;
  const StepVariation& variation_;
  const std::uint64_t seed_;
  const bool any_;
  std::array<Lognormal, kEntities> of_step_;
  Lognormal of_run_, of_pause_;
  std::vector<ChipId> first_chip_;   // [job], its lowest chip stands for it
  std::vector<std::int64_t> hosts_;  // [job]
  std::vector<double> longest_ps_;   // [chip class] its longest computation, beside transfers; where any()
};

}  // namespace podsim
