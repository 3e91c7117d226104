// Files of compilers as modules that can be partitioned, or that have been.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/hlo/trip_counts.h"
#include "ingest/imported/imported.h"
#include "ingest/partitioning/partition_module.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim::partitioning {

// A module with what became of it.
struct TakenModule {
  std::string name;
  bool compiled = false;  // it was partitioned before: its collectives are its own
  PartitionedModule partitioned;
  std::string refused;                                   // why there is nothing; empty where there is
  std::optional<std::size_t> refused_at = std::nullopt;  // byte of the file, where it has a place
  bool needs_mesh = false;
};

bool is_module_kind(std::string_view kind);  // of file_kind.h: "hlo" or "stablehlo"

// All modules of a file, those of one that is not compiled by podsim's own partitioner on the mesh that is
// stated, or else the one they name. Nothing, and problems, where the file cannot be read.
std::optional<std::vector<TakenModule>> take_modules(const InputText& file, const Stated& stated,
                                                     std::vector<Problem>& problems);

// What a compiled module sends, as records of its collectives and products.
PartitionedModule compiled_module(const hlo::Module& module, const hlo::LoopCounts& loops);

}  // namespace podsim::partitioning
