// Who slows a recorded step down: the step against one in which work takes as long as on the average rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/replay/step_graph.h"

namespace podsim {

// Slowdowns as those of WhatIf (what_if.h): the step over the ideal one where only some operations are as
// recorded and all others ideal. 1 = no longer than that.
struct GraphSlowness {
  Time ideal;                                           // the step if nothing were slow
  double S = 1;                                         // of all operations
  std::vector<std::optional<double>> by_rank;           // [rank of the graph] nothing where it was not tried
  std::vector<std::pair<std::string, double>> by_kind;  // "computing", "copying", "host", "all-reduce"
  std::vector<std::pair<std::int32_t, double>> by_stage;  // of the pipeline; empty where none is known
};

// Ideal work takes as long as it does on the mean rank, ideal transfers the middle one of their kind, bytes
// and number of ranks. Nothing where work of one rank is not known by others, or there is one rank. Of many
// ranks those are tried whose work takes longest beyond its ideal time. REQUIRES: a time for each transfer.
std::optional<GraphSlowness> slowness_of(const StepGraph& graph, const std::vector<Time>& transfers);

}  // namespace podsim
