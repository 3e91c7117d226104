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

// The order of one stage. Every (microbatch, chunk) occurs once forward and once backward, shifting apart.
//   GPipe: all forwards, then all backwards in reverse order.
//   1F1B: stages - stage - 1 warm-up forwards, then one forward and one backward in turn (PipeDream-flush).
//   shifting (GSPMD): microbatches + stages - 1 iterations forward and as many backward, the same on every
//   stage; in stages - 1 of them a stage computes on padding. `microbatch` is the iteration.
//   interleaved: Megatron-LM's order over chunks (Narayanan et al. 2021, section 2.2): warm-up of
//   2 (stages - stage - 1) + (chunks - 1) stages forwards. REQUIRES: microbatches divisible by stages when
//   chunks > 1.
std::vector<PipelineTask> pipeline_order(PipelineSchedule schedule, int stages, int stage, int chunks,
                                         int microbatches);

}  // namespace podsim
