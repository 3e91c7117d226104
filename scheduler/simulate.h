// The event loop: chips issue instructions, groups meet, transfers share links.
#pragma once

#include <cstdint>

#include "scheduler/spec.h"
#include "scheduler/system.h"
#include "scheduler/timeline.h"

namespace podsim {

struct SimulateOptions {
  std::uint64_t seed = 1;
  int steps = 1;      // one after another; each begins when the last chip has ended the one before
  double jitter = 0;  // coefficient of variation of every computation; REQUIRES: every chip its own class
  double interference = 0;  // computation runs 1 / (1 + this) as fast while its chip takes part in a transfer
  bool keep_intervals = false;  // of representatives; memory grows with events
};

// Rules. A chip runs its instructions in order. A collective reaches its group when it is first in its stream
// on that chip; it starts when it has reached all members, takes the launch time, then phase after phase the
// transfer (an activity on the shared links) and the phase's latency; a transfer between stages starts when
// its source reaches it. ENSURES: every picosecond of every chip between step begin and step end is in
// exactly one bucket. A step that cannot go on (members that wait for each other for ever) is a CHECK
// failure: lowering never makes one.
Timeline simulate(const System& system, const SimulateOptions& options);

}  // namespace podsim
