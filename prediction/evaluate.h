// What evaluations between training steps cost each step.
#pragma once

#include <optional>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

struct Adversities;
struct LaidJob;

// The forward passes of a job by themselves, ready to be simulated. No other job is on the fabric meanwhile,
// and what is slow in windows of time or swings is as it should be: what lasts, and what chance decides
// about, is there.
class EvaluationPasses {
 public:
  EvaluationPasses(const LaidJob& job, const Fabric& fabric, const Adversities& adversities, bool fold);

  // Time that evaluations take per training step: the simulated forward passes over a batch, as many as fall
  // on a step. Zero for a job without evaluations. Throws StepTooLong where they take longer than a step may.
  Time per_step(const SimulateOptions& draw) const;

 private:
  double passes_;                 // per step
  bool alike_;                    // but for chance: neither documents nor speeds differ from one to the next
  std::optional<System> system_;  // of a job with evaluations
};

}  // namespace podsim
