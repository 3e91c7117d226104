// Runs a recorded step on a fabric: when each operation begins and ends, who waits, who is waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/replay/replay_graph.h"
#include "scheduler/replay/step_graph.h"
#include "topology/fabric.h"

namespace podsim {

// Predicted alone on a fabric, by the fastest algorithm; each worked out once. REQUIRES: the fabric outlives
// it, and has a chip for every rank of every group.
TransferTimer timer_on(const Fabric& fabric);

// [transfer] predicted alone on the fabric, by its fastest algorithm; rank r is chip r. Transfers at the same
// time do not slow each other down. REQUIRES: the fabric has a chip for every rank of every group.
std::vector<Time> transfer_times(const StepGraph& graph, const Fabric& fabric);

// Where one rank spent the step.
struct RankTime {
  Time computing;      // with an operation of a chip
  Time communicating;  // with data under way, and nothing computed
  Time waiting;        // for other ranks, in transfers that have begun nowhere, and nothing computed
  Time end;            // of its last operation
};

// Of the step, from the first operation to the last.
struct GraphRun {
  std::vector<Time> begin, end;  // [op] of a member, when it has come
  Time step;
  std::vector<RankTime> ranks;
  std::vector<std::int32_t> critical_path;  // operations, each held up by the one before it
};

// An operation begins when all that it waits for have ended and its stream is free; among several the first
// to be ready, then the first of the graph. A transfer begins when its last member has come. Throws
// ReplayError where ranks wait for each other in a circle. O(n log n) of operations.
GraphRun run_graph(const StepGraph& graph, const std::vector<Time>& transfers);

// The step alone, which takes less to find.
Time step_time(const StepGraph& graph, const std::vector<Time>& transfers);

// At most four ranks, the slowest first, that compute for more than 1 % longer than the one in the middle.
std::vector<std::size_t> slow_ranks(const std::vector<Time>& computing);

// The rank without whose slowness the step would gain most.
struct SlowRank {
  std::size_t rank = 0;
  double slowness = 1;  // its computing time over that of the rank in the middle
  Time delay;           // what the step would gain
};

// Nothing where there is no slow rank, or none delays the step. REQUIRES: no other rank is left out for a
// slow one.
std::optional<SlowRank> slowest_rank(const StepGraph& graph, const std::vector<Time>& transfers,
                                     const GraphRun& run);

}  // namespace podsim
