// A network chosen on the command line, by its name in the catalogue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/catalog/catalog.h"

namespace podsim {

// A network without a job, for `podsim collective` and `podsim draw`. `shape` may be empty.
struct FabricChoice {
  std::string name;
  int chips = 0;
  std::vector<int> shape;
  int slices = 1;
  bool twisted = false;
  std::string routing = {};  // a name of the schema; empty = as the fabric says
  std::optional<std::uint64_t> routing_seed = {};
  std::string transport = {};  // empty = as the fabric says
};
std::pair<std::optional<FabricSpec>, std::vector<Problem>> chosen_fabric(const Catalog& catalog,
                                                                         const FabricChoice& choice);

// The fewest slices, of 1, 2, 4 and so on, in which the network of this name has so many chips; 0 where it
// has them in none.
int fewest_slices(const Catalog& catalog, const std::string& fabric, int chips);

}  // namespace podsim
