// The chip and the price of a cluster block.
#include <set>

#include "engine/spelling.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/chip_prices.h"
#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/resolve.h"
#include "proto/text/assign.h"
#include "proto/text/ranges.h"

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
  if (!result.matmul.count(Dtype::kBf16) && !result.matmul.count(Dtype::kFp16)) {
    document.report(inline_field,
                    result.name + " has no matmul in 16 bits, in which attention and logits run",
                    "a list is replaced as a whole: write matmul { dtype: bf16 ... } beside the others");
    return std::nullopt;
  }
  return result;
}

namespace {

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
    document.report(join_path(path, no_provider ? "provider" : "region"),
                    list.name() + " has no price of " + chip + " for \"" + term + "\" of \"" + name + "\"",
                    suggest(name, no_provider ? providers : regions, "it has"));
    return nullptr;
  }
  if (terms.empty()) {
    document.report(join_path(path, "chip"), list.name() + " has no price for " + chip,
                    "set " + join_path(path, "usd_per_chip_hour"));
  } else {
    document.report(join_path(path, "price_term"),
                    list.name() + " has no price of " + chip + " for \"" + term + "\"",
                    suggest(term, terms, "it has"));
  }
  return nullptr;
}

void add_contract(const schema::Contract& contract, Price& price) {
  if (contract.has_kind()) price.kind = static_cast<ContractKind>(contract.kind() - 1);
  if (contract.has_minimum_days()) price.minimum_days = contract.minimum_days();
  price.rest_used_share = contract.rest_used_share();
}

}  // namespace

std::optional<Price> resolve_price(const schema::ClusterChoice& choice, const std::string& own_chip,
                                   const Catalog::Entries& entries, const std::string& path,
                                   Document& document) {
  const std::string name = choice.has_prices() ? choice.prices() : "list_2026";
  const schema::Chip* entry = choice.has_chip() ? find_chip(entries, choice.chip()) : nullptr;
  Price price;
  price.name = name;
  price.term = choice.has_price_term() ? choice.price_term() : "on_demand";
  const schema::PriceList* list = find_prices(entries, name);
  if (!list && (choice.has_prices() || !choice.has_usd_per_chip_hour())) {
    report_unknown_name(entries, Catalog::Section::kPrices, name, join_path(path, "prices"), document);
    return std::nullopt;
  }
  if (list) {
    price.usd_per_kwh = list->usd_per_kwh();
    if (list->has_pue()) price.pue = list->pue();
  }
  if (choice.has_usd_per_chip_hour()) {
    price.name = "own price";
    price.usd_per_chip_hour = choice.usd_per_chip_hour();
    price.low_usd_per_chip_hour = price.high_usd_per_chip_hour = price.usd_per_chip_hour;
  } else {
    const schema::ChipPrice* row =
        find_price(*list, entry ? entry->name() : own_chip, choice, price.term, path, document);
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
  if (choice.has_usd_per_kwh()) price.usd_per_kwh = choice.usd_per_kwh();
  return price;
}

}  // namespace podsim
