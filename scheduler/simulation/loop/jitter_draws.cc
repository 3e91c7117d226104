// A random stream for each chip class.
#include "scheduler/simulation/loop/jitter_draws.h"

namespace podsim {

JitterDraws::JitterDraws(const System& system, const SimulateOptions& options)
    : distribution_(options.jitter), least_(distribution_.least()) {
  if (options.jitter == 0) return;
  for (const ChipClass& chip : system.chips)
    streams_.emplace_back(options.seed, RandomPurpose::kJitter,
                          static_cast<std::uint64_t>(chip.representative));
  ahead_.resize(streams_.size());
}

}  // namespace podsim
