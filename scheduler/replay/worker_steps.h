// What a worker of a simulated job did in a step: its chips taken together.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

// Seconds from the begin of the step.
struct TracedSpan {
  double start_s = 0, duration_s = 0;
  double end_s() const { return start_s + duration_s; }
};

// One pass of a microbatch over a chunk, and when it ran.
struct TracedPass {
  PipelineTask task;
  TracedSpan own;  // lasts as long as it would without waiting for other chips
};

// One step of a worker, in the order of its passes; times in seconds.
struct WorkerStep {
  std::vector<TracedPass> passes;
  std::array<std::vector<TracedSpan>, 2> sent;  // activations, gradients: one per pass that sends
  double begin_s = 0;                           // before the first pass
  double scatter_end_s = 0;                     // of the communication after the last pass
  double optimizer_s = 0;
};

// Whether a pass of the job at this stage hands activations (direction 0) or gradients (1) on to another
// stage. Pieces of the model are numbered chunk by chunk.
bool hands_on(const StepProgram& program, int stage, int chunk, int direction);

// Each figure is that of the slowest of the chip classes. REQUIRES: as simulated_trace.h.
WorkerStep worker_step(const System& system, const LaidJob& job, const StepPasses& step, int stage,
                       const std::vector<std::int32_t>& classes);

}  // namespace podsim
