// Gives every tensor of a graph a layout before it is planned, where the user has left some open.
#pragma once

#include <string>
#include <vector>

#include "workload/graph/graph.h"

namespace podsim {

struct Job;

// Propagates where a tensor is annotated, or the job has a program of its own: afterwards every constrained
// tensor has a closed annotation of whole axes (pieces of axes, which reshapes may ask for, are dropped) and
// an origin. Conflicts go to `conflicts`, where given, each once. Elsewhere the rules already say everything,
// and nothing changes.
void complete_shardings(const Job& job, Graph& graph, std::vector<std::string>* conflicts);

}  // namespace podsim
