// One part of the model, partitioned: its blocks of operations and collectives, and what it keeps in memory.
#pragma once

#include "workload/cost_model.h"
#include "workload/explain.h"
#include "workload/model_program.h"
#include "workload/program.h"

namespace podsim {

// Bytes on one device, per microbatch where activations are meant.
struct PartFootprint {
  Bytes stored;     // activations kept from forward to backward, without logits
  Bytes offloaded;  // that wait on the host meanwhile
  Bytes remade;     // computed again: they exist while the piece is in backward
  Bytes output;     // the activation handed on
  Bytes gathered;   // weights as one device holds them while it computes, where that is more than its shard;
                    // else zero
  Bytes logits;     // elements x 6: once in 16 bits and once in 32
};

struct PartitionedPart {
  Part part;
  PartFootprint footprint;
};

// `owns_shared` = a shared parameter lives here too (its table is on another pipeline stage), so it is
// stored, reduced and updated here.
PartitionedPart partition_part(const Job& job, const CostModel& cost, const ModelPart& piece,
                               bool owns_shared, PartitionTrace* trace);

}  // namespace podsim
