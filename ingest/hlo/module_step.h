// How long a device takes for an HLO module on a chip and a fabric.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/units.h"
#include "ingest/hlo/module.h"
#include "ingest/hlo/trip_counts.h"
#include "topology/fabric.h"
#include "workload/job/chip.h"
#include "workload/job/stack.h"

namespace podsim::hlo {

struct Machine {
  Chip chip;
  Stack stack;
  Fabric fabric;
};

// Over all runs.
struct WorkTime {
  std::int64_t runs = 0;
  double seconds = 0;
};

struct ModuleStep {
  double seconds = 0;
  WorkTime matmuls, attention, others;  // others move memory
  double bytes_fused = 0;               // of memory that those move, chains of elementwise operations as one
  std::map<std::string, WorkTime> collectives;  // [kind]
  double communication_seconds = 0, exposed_seconds = 0;
  std::int64_t scattered = 0;                         // all-reduces of which every device keeps a part
  std::map<std::string, std::int64_t> unknown_calls;  // taken to move their operands and results
  // Products of these types ran at the rate of 16 bits, since the chip has none of theirs.
  std::map<std::string, std::int64_t> without_rate;
  std::map<std::string, std::int64_t> not_timed;  // sends, receives, moves between chip and host
  double bytes_to_host = 0, bytes_from_host = 0;  // of those
  std::vector<std::string> unknown_loops;         // counted once
};

// Matmuls and attention by the rates of the chip, all else by what it moves in memory once chains of
// elementwise operations are one kernel. Collectives take what the slowest of their groups does while all are
// at it. One that no product of its computation leads to, or whose result none needs there, runs beside the
// computation; others are waited for (waits.h, also between trips of a loop). Device i is chip i.
// REQUIRES: the fabric has a chip for every device; the chip has rates of matmuls in 16 bits and of the
// stack's attention.
ModuleStep predict_module(const Module& module, const LoopCounts& loops, const Machine& machine);

}  // namespace podsim::hlo
