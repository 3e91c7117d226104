// Judges the plan of a sharding case by replaying it, whatever made it.
#pragma once

#include "tests/sharding/case_plans.h"
#include "tests/sharding/replay.h"

namespace podsim::testing {

// Everything wrong with the plan of a case, given as JSON as in its file; empty = valid: every step fits the
// state of its tensor, bytes are those of local shapes, operands agree on every factor where the operation
// runs, halos bring every shard what it reads, FLOPs follow from local factors, and the result lies as asked.
Faults judge(const Mesh& mesh, const std::string& question, const ReadPlan& plan);

}  // namespace podsim::testing
