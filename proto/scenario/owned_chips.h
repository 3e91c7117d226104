// What a scenario says of chips that are bought; where it says nothing, what is known of the chip and usual.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "economics/ownership.h"
#include "proto/catalog/catalog.h"
#include "proto/text/override.h"

namespace podsim {

namespace schema {
class ClusterChoice;
}

struct OwnedChips {
  std::string chip;            // its name in price lists and tables of capital
  double price = 1;            // times what the chip costs, rented or bought: cluster.hypothetical
  Ownership own;               // with that factor in the capital; without PUE
  bool known_capital = false;  // else there is none, and somebody has to state it
  std::optional<double> embodied_kg, kg_per_kwh;  // of making a chip, and of its power, in CO2e
};

OwnedChips owned_chips(const schema::ClusterChoice& choice, const Catalog::Entries& entries);

// Of the scenario in text format. REQUIRES: it can be loaded with these overrides.
OwnedChips owned_chips(const std::string& text, const std::vector<Override>& overrides,
                       const Catalog& catalog);

}  // namespace podsim
