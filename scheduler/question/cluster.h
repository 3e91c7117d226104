// A cluster: chips of one kind, their network, and what they cost.
#pragma once

#include <string>

#include "topology/fabric_spec.h"
#include "workload/job/chip.h"

namespace podsim {

struct Price {
  std::string name;  // catalogue name of the price list
  std::string term;  // "on_demand", "committed_1y", "committed_3y", "spot"
  double usd_per_chip_hour = 0;
  double usd_per_kwh = 0;  // energy on top; 0 when the price includes it
  double pue = 1;          // facility power / IT power
};

struct Cluster {
  Chip chip;
  FabricSpec fabric;
  Price price;
};

}  // namespace podsim
