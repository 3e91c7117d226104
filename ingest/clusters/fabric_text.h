// A cluster as the blocks of a scenario that say how it differs from a fabric of the catalogue.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ingest/imported/imported.h"

namespace podsim {

// Ports or nodes down of a switch, and how far its uplinks are oversubscribed; leaves first.
using FabricTiers = std::vector<std::pair<std::int64_t, double>>;

struct FabricOfCluster {
  struct OddPort {
    std::int64_t host = 0, adapter = 0;
    double speed_fraction = 1;  // of what most ports have; 0 = it has none
    std::string from;
  };
  std::string file;
  FabricTiers tiers;
  std::string tiers_from;
  std::int64_t nodes = 0;
  std::int64_t adapters = 0;    // of a node; 0 = not known
  double nic_gb_per_s = 0;      // 0 = not known
  bool rail_optimised = false;  // each adapter of a node on a leaf of its own
  bool says_rails = false;
  std::vector<OddPort> odd_ports;
  // Where the file has every cable: ports of hosts, leaf by leaf, and those of them that are slower.
  std::int64_t end_ports = 0;
  std::vector<OddPort> odd_ends;  // host = the port's number, adapter = 0
};

// Into `imported`: the text, or what it needs: the fabric of the catalogue that has what the file does not
// say. Of a network whose every cable is known, and no fabric stated, the network alone: each port of a host
// is a chip.
void write_fabric(const FabricOfCluster& cluster, const Stated& stated, Imported& imported);

}  // namespace podsim
