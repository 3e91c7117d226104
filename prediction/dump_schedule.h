// The pipeline schedule as a picture in text, from the simulated timeline.
#pragma once

#include <string>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// The first step of a job: a row per stage, to scale, where F, B and W stand for the forward pass, the
// backward pass (its input gradient where W comes apart) and the weight gradient, followed by the microbatch
// and, with several chunks, the chunk; o is the optimizer, dots where nothing is computed. A long step shows
// its begin and its end. Below, for each stage: how it spends its steps, how much it holds, its passes in
// order. REQUIRES: the timeline has intervals.
std::string dump_schedule(const System& system, int job, const Timeline& timeline);

}  // namespace podsim
