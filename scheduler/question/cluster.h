// A cluster: chips of one kind, their network, and what they cost.
#pragma once

#include <optional>

#include "scheduler/question/carbon.h"
#include "scheduler/question/price.h"
#include "topology/fabric_spec.h"
#include "workload/job/chip.h"

namespace podsim {

struct Cluster {
  Chip chip;
  FabricSpec fabric;
  Price price;
  std::optional<Carbon> carbon = {};  // where the scenario names a grid
};

}  // namespace podsim
