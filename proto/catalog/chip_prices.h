// Which chips a price list knows.
#pragma once

#include <string>

#include "proto/catalog/catalog.h"

namespace podsim {

// Whether the list of this name has a price of the chip, by its name in the catalogue, on any terms.
bool has_price(const Catalog& catalog, const std::string& list, const std::string& chip);

}  // namespace podsim
