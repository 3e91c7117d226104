// Cuts of all operations of a part that take less time together than what is cheapest for each.
#pragma once

#include <optional>
#include <vector>

#include "workload/graph/graph.h"
#include "workload/op_planning/plan.h"

namespace podsim {

struct Job;

// In the order in which they run.
struct PartOperations {
  std::vector<const Operation*> all;
  std::size_t forward = 0;     // so many first
  std::size_t recomputed = 0;  // and after these
};

// Where an operation leaves its results those begin that read them, so that what is cheapest for each may be
// dear for all: here each is cut so that it needs fewest collectives, or sends fewest bytes, or as it would
// be by declaration, or as if partial sums cost nobody anything. What these come to on the fabric is the sum
// of `cost`; the cuts of least sum are returned, nothing where none is below `most` seconds by more than a
// thousandth. The first two do not ask how fast the hardware is, so that better hardware chooses among the
// same. REQUIRES: cost.timed(), Partitioner::kSearch.
std::vector<Cut> better_cuts(const Job& job, const CostModel& cost, const Graph& graph,
                             const PartOperations& operations, double most);

}  // namespace podsim
