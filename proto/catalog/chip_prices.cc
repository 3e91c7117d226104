// Looks a chip up in a price list.
#include "proto/catalog/chip_prices.h"

#include <algorithm>

#include "proto/catalog.pb.h"
#include "proto/catalog/catalog_entries.h"

namespace podsim {

bool has_price(const Catalog& catalog, const std::string& list, const std::string& chip) {
  const schema::PriceList* prices = find_prices(catalog.entries(), list);
  return prices != nullptr && std::ranges::any_of(prices->price(), [&](const schema::ChipPrice& price) {
           return price.chip() == chip;
         });
}

}  // namespace podsim
