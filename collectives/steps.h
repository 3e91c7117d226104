// A collective one transfer at a time: what every rank sends in every step, for stepwise simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/collective.h"
#include "topology/route.h"

namespace podsim {

struct StepRoute {
  std::vector<RouteHop> hops;  // shares grown by what the channel does not sustain
  Time latency;
};

struct StepTransfer {
  std::int32_t from, to;  // ranks: indices into the group, different
  std::int32_t route;     // index into StepPlan::routes
  double bytes;
};

// `repeat` times the same transfers one after another. A transfer of a step begins once both of its ranks
// have come to that step; a rank goes on when all transfers that it sends or receives have arrived. So does a
// send-and-receive with rendezvous: the slowest hop of a ring sets its pace.
struct Step {
  std::vector<StepTransfer> transfers;
  int repeat = 1;
};

// Lanes run side by side and share links only: directions and channels of a ring, orders of torus dimensions.
using RingChannel = std::vector<Step>;

struct StepPlan {
  Algorithm algorithm = Algorithm::kDirect;
  Bytes bytes;                // of the collective
  std::vector<ChipId> group;  // [rank]
  Time start_up;              // before the first step: launch, and what the channel costs (setup, ramps)
  std::vector<StepRoute> routes;
  std::vector<RingChannel> channels;

  std::int64_t transfers() const;  // repeats counted
};

// Why an algorithm that applies has no steps, in words that go on from its name: "is a stream of chunks".
// REQUIRES: plan_with has a plan for it, and plan_steps none.
std::string_view why_no_steps(Algorithm algorithm, const Collective& collective);

// The steps of one algorithm, or nothing where it has none here: in-switch reductions, trees and chains (a
// stream of chunks rather than steps), and what plan_with has no plan for. Without contention between
// channels a simulation of the steps takes what the fluid plan takes: a step waits for its longest latency
// and its busiest link. REQUIRES: as plan_with. O(ranks * steps that differ).
std::optional<StepPlan> plan_steps(Algorithm algorithm, const Fabric& fabric, const Collective& collective,
                                   std::span<const ChipId> group);

}  // namespace podsim
