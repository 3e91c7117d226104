// Rows of price lists as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/chip_prices.h"

namespace podsim {

// Of `chips` together where they are a slice, called `name`.
std::string prices_table(const std::vector<PriceRow>& rows, int chips, const std::string& name);
std::string prices_json(const std::vector<PriceRow>& rows, int chips);

}  // namespace podsim
