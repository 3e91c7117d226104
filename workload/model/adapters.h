// Weights that are frozen, and low-rank adapters beside them that are trained instead (LoRA, arXiv
// 2106.09685).
#pragma once

#include <string>
#include <vector>

#include "workload/graph/graph.h"

namespace podsim {

struct Adapters;

// Freezes every weight of a piece of the model and puts an adapter beside each matmul that is named; where
// none is, beside those of a layer that run in the job's precision.
void freeze_and_adapt(const Adapters& adapters, bool layer, Graph& graph);

// Names of matmuls with a weight: what an adapter can be put beside.
std::vector<std::string> adaptable_matmuls(const Graph& graph);

}  // namespace podsim
