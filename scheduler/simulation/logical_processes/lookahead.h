// How long chips surely have to do with nobody but those of their logical process.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/state/running.h"

namespace podsim {

// An instruction *concerns others* if it launches on a shared stream, or looks at what has come of one: waits
// and receives, and computations that go on over such waits. Between two of them lies computation, which
// takes its time whatever others do.
class Lookahead {
 public:
  // Empty without logical processes. REQUIRES: `system` outlives this object.
  Lookahead(const System& system, const LogicalProcesses& processes);

  // Computations of the segment after an instruction and before the next one that concerns others.
  struct Work {
    Time duration;  // at speed 1, without jitter
    std::int32_t computations = 0;
  };

  // Of the instruction that the chip is at.
  Work after(const RunningChip& chip) const;

 private:
  const System& system_;
  std::vector<std::vector<std::vector<Work>>> work_;  // [program][segment][instruction]
};

}  // namespace podsim
