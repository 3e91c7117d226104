// How a measured run was cut over its chips: mesh, sharding and pipeline of the scenario.
#pragma once

#include <string>
#include <vector>

#include "validation/run_table.h"

namespace podsim {

struct RunLayout {
  std::string lines;        // of the job block of a scenario
  std::string parallelism;  // "FSDP", "TP+PP+CP"
  int tensor = 1;
  int pipeline = 1;
  std::vector<int> slice;  // of a torus, where the table tells it
  int slices = 1;
  std::vector<std::string> assumptions;
  std::string missing;  // why the row has no layout; empty when it has
};

// Runs on a torus tell their mesh as lists "axis=size" within and across slices; others tell degrees
// (tp, cp, pp, dp, ep) and how the data-parallel state is cut (dp_sharding). REQUIRES: rules are applied.
RunLayout run_layout(const RunRow& row, bool torus);

}  // namespace podsim
