// What arguments of Megatron-LM say of the optimizer's state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/launchers/settings.h"

namespace podsim {

// Bytes of its state, and what of it podsim does otherwise.
struct MegatronOptimizer {
  std::int64_t state_bytes = 12;           // of a weight in 32 bits and what is kept beside it, per weight
  std::string from;                        // where that is said; empty where it is the default
  std::vector<std::string> not_simulated;  // in words, of little weight
};

// Adam keeps two moments in 32 bits beside a weight in 32, unless the optimizer that knows precisions is
// asked for others; SGD keeps one, or none without momentum. State of other optimizers is told to be that of
// Adam.
MegatronOptimizer read_megatron_optimizer(Configuration& settings);

}  // namespace podsim
