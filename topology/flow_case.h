// Flows on a graph: what is sent where, when, and over which edges. Nodes and edges are plain numbers; a
// fabric is not needed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/sharing.h"

namespace podsim {

// One direction of a link.
struct FlowEdge {
  std::int32_t from = 0, to = 0;
  double bytes_per_s = 0;  // >= 0; 0 = down at the start
  double latency_s = 0;    // one way
};

// A part of a list that all flows share.
struct ListPart {
  std::int32_t first = 0, count = 0;
};

struct Flow {
  std::int32_t source = 0, destination = 0;
  double bytes = 0;
  double start_s = 0;  // the earliest start
  double weight = 1;   // flows that meet get rates in proportion to their weights
  ListPart uses;       // in FlowCase::uses; none when source == destination
  ListPart after;      // in FlowCase::predecessors: flows that must have finished before it starts
};

// From `time_s` on the edge has this capacity.
struct CapacityStep {
  double time_s = 0;
  std::int32_t edge = 0;
  double bytes_per_s = 0;
};

// Flows first .. end-1 belong together.
struct FlowJob {
  std::int32_t first = 0, end = 0;
};

struct FlowCase {
  std::string name;
  std::int32_t nodes = 0;
  std::vector<FlowEdge> edges;
  std::vector<Flow> flows;
  // Routes: the share of a flow's bytes on an edge (= resource). kUsageUnit = all of them; less where the
  // flow is split over several paths. Flows of one route may share a part.
  std::vector<Use> uses;
  std::vector<std::int32_t> predecessors;
  std::vector<CapacityStep> capacity_steps;
  std::vector<FlowJob> jobs;

  std::span<const Use> route(const Flow& flow) const {
    return {uses.data() + flow.uses.first, static_cast<std::size_t>(flow.uses.count)};
  }
  std::span<const std::int32_t> predecessors_of(const Flow& flow) const {
    return {predecessors.data() + flow.after.first, static_cast<std::size_t>(flow.after.count)};
  }
};

// Appends a route to `uses`: the flow is split equally over the paths, each a list of edges in order. O(n log
// n) of all edges named.
ListPart add_route(FlowCase& flows, std::span<const std::vector<std::int32_t>> paths);

// Appends a flow of `bytes` for every ordered pair of different nodes, by source and then by destination.
void add_all_to_all(FlowCase& flows, double bytes);

// What came of a routing rule.
struct Routed {
  std::vector<std::int32_t> unreachable;  // flows without a path from source to destination; no route is set
  bool too_long = false;                  // more than the allowed uses: some flows have no route
};

// Gives every flow without uses the route `minimal_ecmp`: traffic that reaches a node is split evenly over
// all its edges that are one hop closer to the destination, parallel edges counting separately; edges without
// capacity at the start do not exist. Stops when `uses` would have more than `most_uses` entries.
// O(flows log flows + destinations (nodes + edges) + uses); flows between the same nodes share their route.
Routed route_minimal_ecmp(FlowCase& flows, std::int32_t most_uses);

}  // namespace podsim
