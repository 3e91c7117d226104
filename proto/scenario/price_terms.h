// The contracts that there are for the chips of a scenario.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/override.h"

namespace podsim {

// Those under which the scenario's price list has the chip, each once, in the order of the list. None where
// the scenario cannot be read, or the list has no price of it.
std::vector<std::string> price_terms(const std::string& text, const std::vector<Override>& overrides,
                                     const std::string& chip, const Catalog& catalog);

}  // namespace podsim
