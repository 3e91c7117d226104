// Collectives simulated transfer by transfer: every message of every step shares the links with all others.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/steps.h"
#include "engine/units.h"
#include "topology/fabric.h"

namespace podsim {

// A plan of steps, and the instant from which its ranks may send.
struct StartedPlan {
  const StepPlan* plan;  // outlives the call
  Time start;
};

// When each plan is over, and what its transfers put on links.
struct StepwiseResult {
  std::vector<Time> finish;        // [plan] when its last transfer has arrived
  std::int64_t transfers = 0;      // simulated, of all plans
  std::vector<double> link_bytes;  // [link] carried
};

// Several plans at once contend for the links of the fabric, shared as its transport shares them. A transfer
// takes bandwidth from the instant at which both of its ranks have come to its step, and arrives its route's
// latency after it has drained. Rounded once, at the end, to whole picoseconds. O(transfers * links of a
// route) where equal transfers run in step.
// `told` hears now and then which share of all transfers has arrived.
using ShareTold = std::function<void(double)>;
StepwiseResult simulate_steps(const Fabric& fabric, std::span<const StartedPlan> plans,
                              const ShareTold& told = {});

// One plan alone, from its launch.
Time simulate_steps(const Fabric& fabric, const StepPlan& plan, const ShareTold& told = {});

}  // namespace podsim
