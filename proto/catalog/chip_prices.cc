// Looks chips and slices up in the price lists.
#include "proto/catalog/chip_prices.h"

#include <algorithm>

#include "engine/number_text.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/contract_length.h"

namespace podsim {
Price to_price(const schema::ChipPrice& row) {
  Price price;
  price.term = row.term();
  price.kind = kind_of_row(row);
  price.minimum_days = days_of_row(row);
  price.provider = row.provider();
  price.region = row.region();
  const double usd = row.usd_per_chip_hour();
  price.usd_per_chip_hour = usd;
  price.low_usd_per_chip_hour = row.has_low_usd_per_chip_hour() ? row.low_usd_per_chip_hour() : usd;
  price.high_usd_per_chip_hour = row.has_high_usd_per_chip_hour() ? row.high_usd_per_chip_hour() : usd;
  return price;
}

bool has_price(const Catalog& catalog, const std::string& list, const std::string& chip) {
  const schema::PriceList* prices = find_prices(catalog.entries(), list);
  return prices != nullptr && std::ranges::any_of(prices->price(), [&](const schema::ChipPrice& price) {
           return price.chip() == chip;
         });
}

std::vector<PriceRow> price_rows(const Catalog& catalog) {
  std::vector<PriceRow> rows;
  for (const std::string& list : catalog.names(Catalog::Section::kPrices)) {
    for (const schema::ChipPrice& price : find_prices(catalog.entries(), list)->price()) {
      const Price converted = to_price(price);
      rows.push_back({list, price.chip(), price.term(), converted.usd_per_chip_hour,
                      converted.low_usd_per_chip_hour, converted.high_usd_per_chip_hour,
                      converted.minimum_days, price.provider(), price.region(), price.date(),
                      price.source()});
    }
  }
  std::ranges::stable_sort(rows, {}, &PriceRow::chip);
  return rows;
}

std::optional<NamedSlice> named_slice(const Catalog& catalog, const std::string& name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const int counted = whole_text_as<int>(name.substr(dash + 1)).value_or(0);
  if (counted <= 0) return std::nullopt;
  for (const std::string& list : catalog.names(Catalog::Section::kPrices))
    for (const schema::SliceName& slice : find_prices(catalog.entries(), list)->slice_name())
      if (slice.prefix() == name.substr(0, dash) && counted % slice.counted_per_chip() == 0)
        return NamedSlice{slice.chip(), counted / slice.counted_per_chip()};
  return std::nullopt;
}

}  // namespace podsim
