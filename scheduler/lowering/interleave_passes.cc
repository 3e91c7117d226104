// Two passes that share a chip's compute stream.
#include "scheduler/lowering/interleave_passes.h"

namespace podsim {

void interleave(const std::array<std::vector<Instruction>, 2>& passes, std::vector<Instruction>& out) {
  constexpr std::array kWaitStreams = {Stream::kActivation, Stream::kActivationBeside};
  std::array<std::size_t, 2> next = {0, 0};
  const auto waits = [&](std::size_t pass) {
    const Instruction& instruction = passes[pass][next[pass]];
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
