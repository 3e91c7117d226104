// How many processes a launcher starts, which are ranks of Megatron-LM with a GPU each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingest/launchers/settings.h"

namespace podsim {

// A number, or why there is none; neither where no launcher says anything of it.
struct LaunchedRanks {
  std::optional<std::int64_t> ranks;
  std::string from;     // "the launcher's 4 x 8 processes"
  std::string unknown;  // why there is no number, where the launcher begins to say it: "nnodes is $NNODES"
};

// By torchrun where one of its options is there, else by Slurm's tasks. What torchrun leaves to the machine
// (a variable, "gpu") Slurm's nodes and GPUs say. REQUIRES: options of torchrun and Slurm have names that
// begin with "launcher."; of tasks that start a launcher, and so are no ranks, with "launcher.launchers.".
LaunchedRanks launched_ranks(Configuration& settings);

}  // namespace podsim
