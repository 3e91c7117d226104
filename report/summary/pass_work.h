// What one pass of a pipeline stage computes on one chip.
#pragma once

#include <string>

#include "workload/partition/program.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

struct PassWork {
  std::string layers;  // of the model, from 0: "8-15"; empty where it has none
  double flops = 0;
  std::string shape;  // of its largest operation: "[4096 x 8192] x [8192 x 1280]"
};

// "[4096 x 8192] x [8192 x 1280]" of a matmul, heads and lengths of attention; empty for what only moves
// data.
std::string operation_shape(const ComputeOp& op);

PassWork pass_work(const StepProgram& program, const PipelineShape& shape, int stage,
                   const PipelineTask& task);

}  // namespace podsim
