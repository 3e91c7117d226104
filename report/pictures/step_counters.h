// What chips hold and what links carry along a step, for traces.
#pragma once

#include <vector>

#include "report/tracks/step_tracks.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// Of the first step of a job alone: the memory of a chip of each stage, in GiB, whose activations come and go
// with its passes; and the rate of one link of each of the 32 classes that are used most, of all kinds by
// turns, in GB/s, as the mean of every thousandth of the step. A collective puts its bytes evenly on links
// from its start to its end. REQUIRES: the timeline has intervals.
std::vector<CounterGroup> step_counters(const System& system, const LaidJob& job, const Timeline& timeline);

}  // namespace podsim
