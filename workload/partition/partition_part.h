// One part of the model, partitioned: its blocks of operations and collectives, and what it keeps in memory.
#pragma once

#include "workload/model/model_program.h"
#include "workload/partition/footprint.h"
#include "workload/partition/partition_trace.h"
#include "workload/partition/program.h"
#include "workload/resharding/cost_model.h"

namespace podsim {

struct Job;

struct PartitionedPart {
  Part part;
  PartFootprint footprint;
};

// `owns_shared` = a shared parameter lives here too (its table is on another pipeline stage), so it is
// stored, reduced and updated here.
PartitionedPart partition_part(const Job& job, const CostModel& cost, const ModelPart& piece,
                               bool owns_shared, PartitionTrace* trace);

}  // namespace podsim
