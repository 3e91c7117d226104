// Two passes that share a chip's compute stream.
#pragma once

#include <array>
#include <vector>

#include "scheduler/lowering/instructions.h"

namespace podsim {

// The instructions of both, each in its own order, the first pass first: where one comes to a wait for its
// activation collectives (those of the first pass are on kActivation, of the second on kActivationBeside),
// the other goes on until it has to wait too.
void interleave(const std::array<std::vector<Instruction>, 2>& passes, std::vector<Instruction>& out);

}  // namespace podsim
