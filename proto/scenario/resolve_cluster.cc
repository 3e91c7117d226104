// The chip and the price of a cluster block.
#include <algorithm>

#include "engine/spelling.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/chip_prices.h"
#include "proto/catalog/convert.h"
#include "proto/catalog/owning_tables.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/hypothetical.h"
#include "proto/scenario/owned_chips.h"
#include "proto/scenario/resolve.h"
#include "proto/text/assign.h"
#include "proto/text/ranges.h"
#include "report/text/text.h"

namespace podsim {

std::optional<Chip> resolve_chip(const schema::ClusterChoice& choice, const Catalog::Entries& entries,
                                 const std::string& path, Document& document) {
  const std::string field = join_path(path, "chip"), inline_field = join_path(path, "chip_override");
  schema::Chip chip;
  if (choice.has_chip()) {
    const schema::Chip* entry = find_chip(entries, choice.chip());
    if (!entry) {
      report_unknown_name(entries, Catalog::Section::kChips, choice.chip(), field, document);
      return std::nullopt;
    }
    warn_of_loose_name(entries, Catalog::Section::kChips, choice.chip(), field, document);
    chip = *entry;
  } else if (!choice.has_chip_override()) {
    report_missing(field, "\"h100\"", document);
    return std::nullopt;
  }
  merge_override(choice.chip_override(), chip);
  check_required(chip, inline_field, document);
  if (!document.clean_below(inline_field)) return std::nullopt;
  if (chip.has_kernels() && !find_kernels(entries, chip.kernels())) {
    report_unknown_name(entries, Catalog::Section::kKernels, chip.kernels(),
                        join_path(inline_field, "kernels"), document);
    return std::nullopt;
  }
  Chip result = to_chip(chip, entries);
  if (!result.matmul_rate(Dtype::kBf16)) {
    document.report(inline_field,
                    result.name + " has no matmul in 16 bits, in which attention and logits run",
                    "a list is replaced as a whole: write matmul { dtype: bf16 ... } beside the others");
    return std::nullopt;
  }
  if (result.power_idle_w > result.power_busy_w) {
    document.report(inline_field,
                    result.name + " draws " + shortest(result.power_idle_w) + " W without work and " +
                        shortest(result.power_busy_w) + " W at work",
                    "power_idle_w is at most power_busy_w");
    return std::nullopt;
  }
  check_hypothetical(choice, chip.name(), entries, path, document);
  scale(hypothetical_of(choice, entries), result);
  return result;
}

namespace {

// Each once, in their order; a row of the market has no name.
std::vector<std::string> names_of(std::vector<std::string> names) {
  std::erase(names, "");
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The row of a price list, or a problem that says what there is instead.
const schema::ChipPrice* find_price(const schema::PriceList& list, const std::string& chip,
                                    const schema::ClusterChoice& choice, const std::string& term,
                                    const std::string& path, Document& document) {
  std::vector<std::string> terms, providers, regions;
  for (const schema::ChipPrice& price : list.price()) {
    if (price.chip() != chip) continue;
    terms.push_back(price.term());
    if (price.term() != term) continue;
    providers.push_back(price.provider());
    if (choice.has_provider() && price.provider() != choice.provider()) continue;
    regions.push_back(price.region());
    if (!choice.has_region() || price.region() == choice.region()) return &price;
  }
  if (!regions.empty() || !providers.empty()) {
    const bool no_provider = regions.empty();
    const std::string& name = no_provider ? choice.provider() : choice.region();
    const std::vector<std::string> known = names_of(no_provider ? providers : regions);
    const char* none = no_provider ? "its prices say no provider" : "its prices say no region";
    document.report(join_path(path, no_provider ? "provider" : "region"),
                    list.name() + " has no price of " + chip + " for \"" + term + "\" of \"" + name + "\"",
                    known.empty() ? none : suggest(name, known, "it has"));
    return nullptr;
  }
  if (terms.empty()) {
    document.report(join_path(path, "chip"), list.name() + " has no price for " + chip,
                    "set " + join_path(path, "usd_per_chip_hour"));
  } else {
    terms.emplace_back(kOwnedTerm);
    std::sort(terms.begin(), terms.end());
    terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
    document.report(join_path(path, "price_term"),
                    list.name() + " has no price of " + chip + " for \"" + term + "\"",
                    suggest(term, terms, "it has"));
  }
  return nullptr;
}

// Of the provider of the chips, else of the market; of the usual list where the scenario's, such as a sheet
// of the user's own, does not say.
double egress_usd_per_gb(const schema::PriceList& list, const schema::PriceList& usual,
                         const std::string& provider) {
  for (const schema::PriceList* of : {&list, &usual})
    for (const std::string& name : {provider, std::string()}) {
      const auto row = std::ranges::find(of->egress(), name, &schema::EgressPrice::provider);
      if (row != of->egress().end()) return row->usd_per_gb();
    }
  return 0;
}

void add_contract(const schema::Contract& contract, Price& price) {
  if (contract.has_kind()) price.kind = static_cast<ContractKind>(contract.kind() - 1);
  if (contract.has_minimum_days()) price.minimum_days = contract.minimum_days();
  price.rest_used_share = contract.rest_used_share();
}

// Capital, interest, operation and idle power of an hour of use; power at work comes on top, by the kWh.
std::optional<Price> owned_price(const schema::ClusterChoice& choice, const Catalog::Entries& entries,
                                 const Chip& chip, int chips_per_host, double pue, const std::string& path,
                                 Document& document) {
  OwnedChips chips = owned_chips(choice, entries);
  if (!chips.known_capital) {
    document.report(join_path(path, "price_term"), "no price of a " + chips.chip + " that is bought is known",
                    "write owned { chip_usd: 30000 }, and host_usd, network_usd and hall_usd for its share");
    return std::nullopt;
  }
  chips.own.busy_pue = chips.own.idle_pue = pue;
  const YearOfOwning year =
      year_of_owning(chips.own, 0, with_host_w(chip, chip.power_idle_w, chips_per_host));
  Price price;
  price.name = kOwnedTerm;
  price.term = kOwnedTerm;
  price.kind = ContractKind::kOwned;
  price.usd_per_chip_hour = year.usd_per_used_hour();
  price.low_usd_per_chip_hour = price.high_usd_per_chip_hour = price.usd_per_chip_hour;
  price.usd_per_kwh = chips.own.usd_per_kwh;
  price.pue = pue;
  return price;
}

}  // namespace

std::optional<Price> resolve_price(const schema::ClusterChoice& choice, const Chip& chip, int chips_per_host,
                                   const Catalog::Entries& entries, const std::string& path,
                                   Document& document) {
  const std::string name = choice.has_prices() ? choice.prices() : kUsualPrices;
  Price price;
  price.name = name;
  price.term = choice.has_price_term() ? choice.price_term() : kOnDemandTerm;
  const schema::PriceList* list = find_prices(entries, name);
  if (!list && (choice.has_prices() || !choice.has_usd_per_chip_hour())) {
    report_unknown_name(entries, Catalog::Section::kPrices, name, join_path(path, "prices"), document);
    return std::nullopt;
  }
  // A sheet of the user's own has prices of chips alone.
  const schema::PriceList* usual = find_prices(entries, kUsualPrices);
  if (list) {
    price.usd_per_kwh = list->usd_per_kwh();
    if (list->has_pue() || usual) price.pue = (list->has_pue() ? list : usual)->pue();
  }
  if (choice.has_pue()) price.pue = choice.pue();
  // Factors on the price of chips that are bought are in their capital.
  const bool owns = price.term == kOwnedTerm && !choice.has_usd_per_chip_hour();
  if (choice.has_usd_per_chip_hour()) {
    price.name = kOwnPrice;
    price.term = kOnDemandTerm;  // whatever the list has; `contract` says what it binds to
    price.usd_per_chip_hour = choice.usd_per_chip_hour();
    price.low_usd_per_chip_hour = price.high_usd_per_chip_hour = price.usd_per_chip_hour;
  } else if (owns) {
    const auto owned = owned_price(choice, entries, chip, chips_per_host, price.pue, path, document);
    if (!owned) return std::nullopt;
    price = *owned;
  } else {
    const schema::ChipPrice* row =
        find_price(*list, owned_chips(choice, entries).chip, choice, price.term, path, document);
    if (!row) return std::nullopt;
    const double usd_per_kwh = price.usd_per_kwh, pue = price.pue;
    price = to_price(*row);
    price.name = name;
    price.usd_per_kwh = usd_per_kwh;
    price.pue = pue;
  }
  add_contract(choice.contract(), price);
  if (choice.contract().has_rest_used_share() && price.minimum_days == 0)
    document.warn_idle(join_path(path, "contract.rest_used_share"), "the contract has no minimum term",
                       "minimum_days says how many days are paid in any case");
  if (list)
    price.egress_usd_per_gb = egress_usd_per_gb(*list, usual ? *usual : *list,
                                                price.provider.empty() ? choice.provider() : price.provider);
  if (!owns) scale(hypothetical_of(choice, entries), price);
  if (choice.has_usd_per_kwh()) price.usd_per_kwh = choice.usd_per_kwh();
  return price;
}

std::optional<Carbon> resolve_carbon(const schema::ClusterChoice& choice, const Catalog::Entries& entries,
                                     const std::string& path, Document& document) {
  if (!choice.has_grid() && !choice.has_kg_per_kwh()) return std::nullopt;
  Carbon carbon{.grid = choice.grid()};
  if (choice.has_grid()) {
    const auto known = grid_kg_per_kwh(choice.grid());
    if (!known) {
      document.report(join_path(path, "grid"), "no grid \"" + choice.grid() + "\"",
                      unknown_grid_hint(choice.grid()));
      return std::nullopt;
    }
    carbon.kg_per_kwh = *known;
  }
  if (choice.has_kg_per_kwh()) {
    if (choice.has_grid())
      document.warn_idle(join_path(path, "grid"), "kg_per_kwh says what the power comes with",
                         "leave one of them out");
    carbon.grid.clear();
    carbon.kg_per_kwh = choice.kg_per_kwh();
  }
  const OwnedChips chips = owned_chips(choice, entries);
  if (chips.embodied_kg) carbon.making_kg_per_chip_hour = *chips.embodied_kg / used_hours(chips.own);
  return carbon;
}

}  // namespace podsim
