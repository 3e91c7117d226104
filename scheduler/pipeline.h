// Pipeline schedules: in which order a stage runs the forward and backward passes of its microbatches.
#pragma once

#include <vector>

#include "workload/job.h"

namespace podsim {

struct PipelineTask {
  bool forward;
  int microbatch;
  int chunk;
};

// The order of one stage. Every (microbatch, chunk) occurs once forward and once backward.
//   GPipe: all forwards, then all backwards in reverse order.
//   1F1B: stages - stage - 1 warm-up forwards, then one forward and one backward in turn (PipeDream-flush).
//   interleaved: Megatron-LM's order over chunks (Narayanan et al. 2021, section 2.2): warm-up of
//   2 (stages - stage - 1) + (chunks - 1) stages forwards. REQUIRES: microbatches divisible by stages when
//   chunks > 1.
std::vector<PipelineTask> pipeline_order(PipelineSchedule schedule, int stages, int stage, int chunks,
                                         int microbatches);

}  // namespace podsim
