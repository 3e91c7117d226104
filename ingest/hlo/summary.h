// What an HLO module holds, as figures: its loops, FLOPs, bytes and collectives.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ingest/hlo/collectives.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/module.h"
#include "ingest/hlo/trip_counts.h"

namespace podsim::hlo {

// REQUIRES: its module outlives it.
struct Summary {
  std::string module, entry;
  bool scheduled = false;
  std::int64_t partitions = 1, replicas = 1;  // as written
  std::int64_t devices = 1;                   // as header and groups name them
  std::int64_t computations = 0, instructions = 0;
  LoopCounts loops;
  Cost once, executed;
  Executions executions;
  std::vector<CollectiveUse> collectives;
};

// With trip counts of loops that the user states.
Summary summarize(const Module& module, const std::map<std::string, std::int64_t>& trips = {});

}  // namespace podsim::hlo
