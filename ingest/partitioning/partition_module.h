// An annotated module by podsim's own propagation and partitioner: what each operation needs, and the module
// of one device that comes out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/hlo/module.h"
#include "ingest/hlo/trip_counts.h"
#include "ingest/partitioning/written_collective.h"
#include "workload/mesh/mesh.h"

namespace podsim::partitioning {

// An operation as propagation and the partitioner leave it.
struct OperationRecord {
  std::string name, opcode, loop;  // the loop whose body it is in; empty outside of loops
  std::int64_t runs = 1;
  std::string treatment;               // "partitioned", "whole on every device", "manual", "border", "loop"
  std::vector<std::string> operands;   // where each lies when it runs
  std::vector<std::string> results;    // where propagation has each, with where that came from
  double flops = 0, global_flops = 0;  // of products, of one device and of all it is part of; one run
  std::vector<MadeCollective> collectives;
};

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
