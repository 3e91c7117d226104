// What a search may choose: the values of each axis of a job's layout on its cluster.
#pragma once

#include <vector>

#include "workload/job/job.h"

namespace podsim {

// How weights, gradients and optimizer state lie over the data ranks.
enum class StateSharding : unsigned char {
  kDdp,    // whole on each
  kZero1,  // optimizer state cut
  kZero2,  // gradients too
  kFsdp,   // weights too, gathered to be used
  kHsdp,   // as fsdp within groups of ranks, which hold the same
};

// Weights are gathered to be used.
inline bool cuts_weights(StateSharding sharding) {
  return sharding == StateSharding::kFsdp || sharding == StateSharding::kHsdp;
}

// An empty list: all values that planner/space/space.h calls automatic.
struct LayoutSpace {
  std::vector<int> tensor, context, pipeline, expert, expert_tensor;  // chips along each
  std::vector<int> microbatch;                                        // sequences
  std::vector<PipelineSchedule> schedule;
  std::vector<int> chunks;  // per stage, of the interleaved schedule
  std::vector<StateSharding> sharding;
  std::vector<int> fsdp_group;  // chips of a group of hsdp
  std::vector<Recompute> recompute;
  std::vector<int> recompute_layers;    // first layers of each chunk; 0 = all
  double memory_headroom_share = 0.08;  // of the capacity that stays free
};

}  // namespace podsim
