// What computations send and multiply that stay as they are written.
#pragma once

#include <string>
#include <vector>

#include "ingest/hlo/trip_counts.h"
#include "ingest/partitioning/operation_record.h"
#include "ingest/partitioning/program.h"

namespace podsim::partitioning {

// Records of the collectives and products of these computations and of all that they call. Of conditionals
// collectives of all branches count, and products of the branch that costs most. REQUIRES: the module was
// checked, and has these loops.
std::vector<OperationRecord> written_operations(const hlo::Module& module, const hlo::LoopCounts& loops,
                                                const std::vector<int>& computations,
                                                const std::string& treatment);

// The same of the branches of a conditional that runs as often as its own record says.
std::vector<OperationRecord> branch_operations(const hlo::Module& module, const hlo::LoopCounts& loops,
                                               const hlo::Instruction& conditional,
                                               const OperationRecord& record);

// A product or collective of a manual region, in which groups of everybody have so many devices.
double manual_flops(const Program& program, const Node& product);
MadeCollective manual_collective(const Program& program, const Node& collective, std::int64_t devices);

}  // namespace podsim::partitioning
