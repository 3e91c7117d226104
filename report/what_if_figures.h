// The figures of a replay of simulated steps.
#pragma once

#include "report/figure.h"
#include "scheduler/replay/what_if.h"

namespace podsim {

// The keys are those of podsim replay.
Figure what_if_figures(const WhatIf& result);

}  // namespace podsim
