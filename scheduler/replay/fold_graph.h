// Ranks of a recorded step that do the same at the same times: one of each kind is enough to run it.
#pragma once

#include <vector>

#include "scheduler/replay/step_graph.h"

namespace podsim {

struct FoldedGraph {
  StepGraph graph;              // of the ranks that are kept; StepGraph::alike names the others
  std::vector<Time> transfers;  // [transfer of the graph] how long it takes
};

// Ranks are told apart by their operations and what these wait for, then by whom they meet for how long,
// until nothing more follows. A rank that computes for longer than others is asked what the step would gain
// without it (slowest_rank), and stands for itself. The graph stays as it is where ranks are left out
// already, or where an operation waits for one of another rank. O(n log n) of operations, a few times.
// REQUIRES: a time for each transfer.
FoldedGraph fold_graph(StepGraph graph, std::vector<Time> transfers);

}  // namespace podsim
