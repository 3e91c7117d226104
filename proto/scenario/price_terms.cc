// Looks a chip up in the price list that a scenario names.
#include "proto/scenario/price_terms.h"

#include <algorithm>

#include "proto/catalog/chip_prices.h"
#include "proto/scenario.pb.h"
#include "proto/text/override.h"
#include "proto/text/parse.h"

namespace podsim {

std::vector<std::string> price_terms(const std::string& text, const std::vector<Override>& overrides,
                                     const std::string& chip, const Catalog& catalog) {
  Document document("scenario", text);
  schema::Scenario scenario;
  if (!parse(document, scenario)) return {};
  apply_overrides(overrides, scenario, document);
  const std::string list = scenario.cluster().has_prices() ? scenario.cluster().prices() : kUsualPrices;
  const std::string name = catalog.canonical(Catalog::Section::kChips, chip).value_or(chip);
  std::vector<std::string> terms;
  for (const PriceRow& row : price_rows(catalog))
    if (row.list == list && row.chip == name && std::ranges::count(terms, row.term) == 0)
      terms.push_back(row.term);
  return terms;
}

}  // namespace podsim
