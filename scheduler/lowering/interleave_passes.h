// Two passes that share a chip's compute stream.
#pragma once

#include <array>
#include <vector>

#include "scheduler/lowering/instructions.h"

namespace podsim {

// The instructions of both, each in its own order, the first pass first: where one comes to a wait for its
// activation collectives (those of the first pass are on kActivation, of the second on kActivationBeside),
// the other goes on until it has to wait too.
template <class Each>  // an instruction: its kind and its stream are looked at
void interleave(const std::array<std::vector<Each>, 2>& passes, std::vector<Each>& out) {
  constexpr std::array kWaitStreams = {Stream::kActivation, Stream::kActivationBeside};
  std::array<std::size_t, 2> next = {0, 0};
  const auto waits = [&](std::size_t pass) {
    const Each& instruction = passes[pass][next[pass]];
    return instruction.kind == Instruction::Kind::kWait && instruction.stream == kWaitStreams[pass];
  };
  const auto ended = [&](std::size_t pass) { return next[pass] == passes[pass].size(); };
  for (std::size_t turn = 0; !ended(0) || !ended(1); turn = 1 - turn) {
    // The wait at which the pass gave way, then up to the next one.
    for (bool begun = false; !ended(turn) && !(begun && waits(turn)); begun = true)
      out.push_back(passes[turn][next[turn]++]);
  }
}

}  // namespace podsim
