// How much of what each link of a network could carry a step has it carry.
#pragma once

#include <vector>

#include "report/answer/report.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"
#include "topology/fabric.h"

namespace podsim {

struct NetworkLoad {
  std::vector<LinkUse> kinds;      // as the report has them; empty: nothing is known
  std::vector<double> share = {};  // [link of the fabric] of what it could carry, in the first draw
  std::vector<ChipId> slow = {};   // chips that compute more slowly, ascending
};

// `kinds` = those of the report.
NetworkLoad network_load(const System& system, const Timeline& timeline, std::vector<LinkUse> kinds);

}  // namespace podsim
