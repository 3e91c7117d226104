// The validated question about weeks: a training run, the step it repeats, and what is to be found out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/question/spec.h"
#include "scheduler/reliability/weeks/training_run.h"

namespace podsim {

// How the interval between checkpoints is found.
enum class IntervalChoice : std::uint8_t {
  kGiven,
  kYoung,
  kDaly,
  kExact,      // the best of the closed form
  kSimulated,  // the best of the event simulation
};

// Everything that a run of weeks depends on, and how often it is drawn.
struct ReliabilityQuestion {
  std::string name, question;
  std::string sha256;      // of the scenario and of what its names mean
  std::uint64_t seed = 1;  // of the first draw
  int seeds = 1000;
  Cluster cluster;  // without spares
  std::optional<Spec>
      step;  // its simulation gives step time, tokens, MFU and the shares of stragglers and input
  double step_time_s = 0, tokens_per_step = 0, mfu = 0;  // without `step`; 0 = not said
  std::string failures;                                  // the mix of the catalogue, or empty
  // Without the interval where it is chosen, and without what the step gives.
  TrainingRun run;
  IntervalChoice interval = IntervalChoice::kExact;
  std::optional<double> target_tokens;
  Egress egress;
  bool step_error = true;  // days and dollars vary with the error of the step's time, where that is known
};

}  // namespace podsim
