// What ASTRA-sim answers for collectives on one flat ring, to hold an answer of podsim against its own.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/units.h"
#include "scheduler/replay/step_graph.h"

namespace podsim {

// Its system: the figures that it calls GB/s are of 2^30 bytes for links and of 10^9 for memory.
struct AstraRing {
  double link_gib_per_s = 50;
  std::int64_t latency_ns = 500;
  std::int64_t endpoint_delay_ns = 10;
  std::int64_t chunks = 4;  // one after the other
  double memory_gb_per_s = 1600;
};

// [transfer] in whole nanoseconds, each alone on a ring of its group. All-reduce of S bytes on N ranks, with
// m = S / (chunks N): chunks [e + 2(N-1)(floor(L + m/B) + e) + 3(N-1) floor(m/M)]. Reduce-scatter takes N-1
// steps in place of 2(N-1); so does all-gather, with m = shard / chunks. Throws ReplayError for another kind.
std::vector<Time> astra_ring_times(const StepGraph& graph, const AstraRing& ring);

}  // namespace podsim
