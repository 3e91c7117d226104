// Bytes that one device of a pipeline stage holds at the peak of a step.
#pragma once

#include <vector>

#include "workload/partition/partition_part.h"
#include "workload/partition/program.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

struct Job;

// Weights in the bytes of the precision recipe, gradients and optimizer state in the stack's bytes,
// activations and logits of the microbatches in flight at the peak of the schedule, what the piece in
// backward makes again, two buffers of what is offloaded, gathered weights of a piece and of those that are
// prefetched, buffers of libraries, and the allocator's share of the sum. `parts` in the order of
// StepProgram::parts, with what beside_owners says of them; `chunks` are the stage's.
MemoryUse stage_memory(const Job& job, const std::vector<PartitionedPart>& parts,
                       const std::vector<bool>& beside_owner, const std::vector<ChunkShape>& chunks,
                       const PipelineShape& pipeline, int stage);

}  // namespace podsim
