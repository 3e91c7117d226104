// What evaluations between training steps cost each step.
#pragma once

#include "scheduler/spec.h"
#include "scheduler/system.h"

namespace podsim {

// Time that evaluations of the job take per training step: the simulated forward passes over a batch, as many
// as fall on a step. No other job is on the fabric meanwhile. Zero for a job without evaluations.
Time evaluation_time(const LaidJob& job, const Fabric& fabric, const Adversities& adversities, bool fold);

}  // namespace podsim
