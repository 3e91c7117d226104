// The operations that the mean chip computes in a step, and how often.
#pragma once

#include <span>
#include <vector>

#include "workload/partition/program.h"

namespace podsim {

struct ExecutedOperation {
  const Part* part;
  const ComputeOp* op;
  bool backward;
  double times;  // in a step of the mean chip, on the padding of a shifting buffer too
  double load;   // of once, over that of sequences that are one document each
};

// Part after part, each forward, backward, and what is once a step; they point into the program. `attention`
// of documents as MicrobatchLoad has it, by key_windows of the program; empty where sequences are one each.
std::vector<ExecutedOperation> executed_operations(const StepProgram& program,
                                                   std::span<const double> attention);

}  // namespace podsim
