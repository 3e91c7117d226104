// The event loop: chips issue instructions, groups meet, transfers share links.
#pragma once

#include <vector>

#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// Rules. A chip runs its instructions in order. A collective reaches its group when it is first in its stream
// on that chip; it starts when it has reached all members, takes the launch time, then phase after phase the
// transfer (an activity on the shared links) and the phase's latency; a transfer between stages starts when
// its source reaches it. Jobs start together at time 0; a job begins its next step when its own last chip has
// ended the one before, whatever other jobs do. Once every job has done `steps` steps the simulation is over:
// of each job all steps count that have ended by then, so that jobs of short steps meet all phases of those
// of long ones.
// Returns [job]. ENSURES: every picosecond of every chip between step begin and step end is in exactly one
// bucket of its job's timeline. A step that cannot go on (members that wait for each other for ever) is a
// CHECK failure: lowering never makes one.
std::vector<Timeline> simulate(const System& system, const SimulateOptions& options);

}  // namespace podsim
