// The figures of a replay of simulated steps.
#pragma once

#include <vector>

#include "report/figures/figure.h"
#include "scheduler/replay/what_if.h"

namespace podsim {

// The keys are those of podsim replay.
Figure what_if_figures(const WhatIf& result);

// What podsim replay tells too: S, waste, M_W, M_S, T_s, T_ideal_s; and who is to blame.
std::vector<Figure> what_if_summary(const WhatIf& result);
Figure culprit_figures(const WhatIf& result);

}  // namespace podsim
