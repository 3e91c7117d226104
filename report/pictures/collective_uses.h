// What collectives of a simulated step do: how often, how long, and how much of their links they use.
#pragma once

#include <string>
#include <vector>

#include "engine/units.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// Collectives of one kind over the same axes.
struct CollectiveUse {
  std::string axes, kind, algorithm;
  Bytes bytes;             // of one
  double times = 0;        // of the mean chip in a step
  double under_way_s = 0;  // likewise, from the start to the end of each
  double bus_bytes = 0;    // of one, as nccl-tests counts them for its bus bandwidth; 0 = between two chips
  std::string link = {};   // kind of the link that has most to carry, of all on its way; empty = none
  double link_share = 0;   // of what that link could carry while it is under way
};

// Bytes per second as nccl-tests defines them, of one while it is under way; 0 where they do not say.
double bus_bandwidth(const CollectiveUse& use);

// Longest under way first. REQUIRES: the timeline has intervals.
std::vector<CollectiveUse> collective_uses(const System& system, const Timeline& timeline);

}  // namespace podsim
