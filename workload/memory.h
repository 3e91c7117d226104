// Bytes that one device of a pipeline stage holds at the peak of a step.
#pragma once

#include <vector>

#include "workload/partition_part.h"
#include "workload/pipeline.h"
#include "workload/program.h"

namespace podsim {

// Weights in 16 bits, gradients and optimizer state in the stack's bytes, activations of the microbatches in
// flight, what pieces other than layers keep of one microbatch, their logits, gathered weights of a
// piece and of those that are prefetched, and the allocator's share of the sum. `parts` in the order of
// StepProgram::parts.
MemoryUse stage_memory(const Job& job, const std::vector<PartitionedPart>& parts,
                       const std::vector<ChunkShape>& chunks, const PipelineShape& pipeline, int stage);

}  // namespace podsim
