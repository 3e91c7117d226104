// An annotated module by podsim's own propagation and partitioner: what each operation needs, and the module
// of one device that comes out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/hlo/module.h"
#include "ingest/hlo/trip_counts.h"
#include "ingest/partitioning/operation_record.h"
#include "workload/mesh/mesh.h"

namespace podsim::partitioning {

// The module of one device, and what became of every operation.
struct PartitionedModule {
  Mesh mesh;
  std::vector<OperationRecord> operations;          // sources apart, in the order in which they run
  hlo::Module local;                                // of one device
  std::map<std::string, std::int64_t> not_planned;  // [operation] how many are whole on every device
  std::vector<std::string> unread;                  // shardings that do not fit the mesh
  std::int64_t conflicts = 0;                       // of propagation, that it could not settle
};

// Nothing, and the reason in `problem`, where the module cannot be put in one list of operations.
// REQUIRES: the module was checked.
std::optional<PartitionedModule> partition_module(const hlo::Module& module, const hlo::LoopCounts& loops,
                                                  const Mesh& mesh, std::string& problem);

}  // namespace podsim::partitioning
