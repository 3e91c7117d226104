// Small hand-made steps: operations of known duration on small fabrics.
#pragma once

#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"
#include "scheduler/question/spec.h"
#include "scheduler/simulation/simulate.h"

namespace podsim::testing {

// A chip on which a memory-bound operation of 1e9 bytes takes exactly 1 ms, and a stack that overlaps nothing
// and launches free.
Spec plain_spec();

ComputeOp milliseconds(double ms);
CollectiveOp collective(CollectiveKind kind, AxisSet axes, double bytes, Purpose purpose);

// n chips on a ring of 50 GB/s and 1 us per link; collectives launch free.
FabricSpec ring_fabric(int chips);
// Domains of `per_domain` GPUs, NVLink 400 GB/s and 0.5 us, NICs 50 GB/s and 1 us, one leaf tier of `leaf`
// NICs and a spine.
FabricSpec gpu_fabric(int chips, int per_domain, int leaf);

// One layer per chunk, forward and backward of one operation each; stages along mesh axis 0.
StepProgram pipeline_program(const Mesh& mesh, PipelineSchedule schedule, int stages, int chunks,
                             int microbatches, double forward_ms, double backward_ms);

// The layer of such a step.
Part& layer_of(StepProgram& program);

struct Outcome {
  System system;
  Timeline timeline;
};
// Lower, plan, fold and simulate.
Outcome simulate_step(const Spec& spec, const StepProgram& program, const Fabric& fabric, bool fold);

// A job on the chips from `first`, ready to be assembled with others.
LaidJob lay(const Spec& spec, const StepProgram& program, const Fabric& fabric, ChipId first);

// The jobs together, of each at least `steps` steps.
std::vector<Timeline> simulate_jobs(const Fabric& fabric, const std::vector<LaidJob>& jobs, int steps,
                                    bool fold = true, const Adversities& adversities = {});

}  // namespace podsim::testing
