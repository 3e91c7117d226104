// The collectives that a device takes part in while a module runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/hlo/module.h"
#include "ingest/hlo/replica_groups.h"
#include "ingest/hlo/trip_counts.h"

namespace podsim::hlo {

// Those of one kind among the same groups. An asynchronous one counts at its start.
struct CollectiveUse {
  std::string kind;  // "all-gather"
  Groups groups;
  std::int64_t instructions = 0;                                  // in the text
  std::int64_t executed = 0;                                      // how often they run
  std::int64_t operand_bytes = 0, result_bytes = 0, tensors = 0;  // over all that run
};

// How often instructions of a module run: what is called as often as its callers, bodies of loops as often as
// these go round, all branches of conditionals; not what is applied to elements, nor conditions of loops.
struct Executions {
  std::vector<std::int64_t> of_computation;
  std::map<std::string, std::int64_t> opcodes;       // runs of each operation
  std::map<std::string, std::int64_t> custom_calls;  // and of each target
};
Executions executions(const Module& module, const LoopCounts& loops);

// The same of what these computations call. Of a conditional all branches, or the one that costs most: as
// many FLOPs as cost.h counts.
enum class Branches : std::uint8_t { kAll, kDearest };
Executions executions(const Module& module, const LoopCounts& loops, const std::vector<int>& from,
                      Branches branches);

// In the order of the text. REQUIRES: the module was read by parse_modules, which refuses groups that cannot
// be read.
std::vector<CollectiveUse> collective_uses(const Module& module, const Executions& executions);

}  // namespace podsim::hlo
