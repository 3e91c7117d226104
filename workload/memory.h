// Bytes that one device of a pipeline stage holds at the peak of a step.
#pragma once

#include "workload/partition_part.h"
#include "workload/program.h"

namespace podsim {

struct PartitionedModel {
  PartitionedPart embedding, layer, head;
};

// Weights in 16 bits, gradients and optimizer state in the stack's bytes, activations of the microbatches in
// flight, logits of one microbatch on the stage with the head, gathered weights of the two pieces in use, and
// the allocator's share of the sum.
MemoryUse stage_memory(const Job& job, const PartitionedModel& model, const std::vector<ChunkShape>& chunks,
                       int stage, int stages);

}  // namespace podsim
