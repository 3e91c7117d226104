// One part of the model, partitioned: its blocks of operations and collectives, and what it keeps in memory.
#pragma once

#include <optional>
#include <vector>

#include "workload/model/model_program.h"
#include "workload/partition/footprint.h"
#include "workload/partition/partition_trace.h"
#include "workload/partition/program.h"
#include "workload/pipeline/pipeline.h"
#include "workload/resharding/cost_model.h"

namespace podsim {

struct Job;

struct PartitionedPart {
  Part part;  // with a copy of its own of tables that another part owns: stored, reduced and updated here
  PartFootprint footprint;
  std::optional<Part> beside_owner = {};  // without; missing = as `part`, for it shares none

  const Part& where(bool owner_is_beside) const {
    return owner_is_beside && beside_owner ? *beside_owner : part;
  }
};

PartitionedPart partition_part(const Job& job, const CostModel& cost, const ModelPart& piece,
                               PartitionTrace* trace);

// [part] whether every stage that has it has both ends of the model, which own what parts share: as where
// there is one stage, or a schedule leads down the stages and up again. `chunks` as in StepProgram.
std::vector<bool> beside_owners(const std::vector<std::vector<ChunkShape>>& chunks,
                                const PipelineShape& pipeline, std::size_t parts);

}  // namespace podsim
