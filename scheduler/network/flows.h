// Flows to their finish times: the fluid model of a network, by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/network/transport_model.h"
#include "topology/flow_case.h"

namespace podsim {

// When a flow waits for the latency of its route, the sum over its edges of share x latency.
enum class LatencyConvention {
  kAfter,  // it drains from its start; finish = drained + latency
  kFirst,  // it waits, then drains; finish = drained
};

// What one edge carried in all.
struct EdgeTraffic {
  double bytes = 0;  // of all flows
  double utilisation =
      0;  // bytes over what the edge could have carried until the makespan; 0 if that is nothing
};

// When every flow has finished, or why some never do.
struct FlowsResult {
  // Why the flows never all finish, or empty; the rest is then empty too. Names the flow and the edge without
  // capacity, or the flows that wait for each other.
  std::string problem;

  std::vector<double> finish_s;  // [flow]
  double makespan_s = 0;         // the latest finish
  double mean_finish_s = 0;
  std::vector<EdgeTraffic> edges;  // [edge]
  std::int64_t solves = 0;         // instants at which rates changed
};

// Simulates the flows until all have finished. A flow starts at the later of its `start_s` and the finish of
// all its predecessors; while it drains, rates are weighted max-min fair (engine/sharing.h), or what
// the transport makes of that (scheduler/network/transport_model.h).
// Instants are whole ticks of 1e-18 s; of 1e-15 s when the flows last for more than two seconds, and so on by
// thousands. Chains of dependent flows can magnify a rounded instant a hundred thousand times; finish times
// still agree with rational arithmetic to a relative 1e-9.
// REQUIRES: every flow with source != destination has a route; numbers are finite and not negative, weights
// positive.
FlowsResult simulate_flows(const FlowCase& flows, LatencyConvention convention,
                           const TransportDraw& draw = {});

}  // namespace podsim
