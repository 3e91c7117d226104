// Prices of the lists as plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "scheduler/question/price.h"

namespace podsim {

namespace schema {
class ChipPrice;
}

// A row of a list, without what the list says of energy.
Price to_price(const schema::ChipPrice& row);

// Whether the list of this name has a price of the chip, by its name in the catalogue, on any terms.
bool has_price(const Catalog& catalog, const std::string& list, const std::string& chip);

inline constexpr const char* kUsualPrices = "list_2026";  // where a scenario names no list
inline constexpr const char* kOwnPrice = "own price";     // the scenario's, in the place of a list's name

struct PriceRow {
  std::string list, chip, term;
  double usd_per_chip_hour = 0, low = 0, high = 0;  // low and high are the price where nobody says
  double minimum_days = 0;
  std::string provider, region, date, source;  // provider empty = the market
};

// Of all lists, by chip, then as the lists have them.
std::vector<PriceRow> price_rows(const Catalog& catalog);

// "v5p-8" is a slice of 4 chips. Nothing where no list knows the prefix, or the number makes no whole chips.
struct NamedSlice {
  std::string chip;
  int chips = 0;
};
std::optional<NamedSlice> named_slice(const Catalog& catalog, const std::string& name);

}  // namespace podsim
