// Puts what the cluster block says in the place of capital that is known and of usual terms.
#include "proto/scenario/owned_chips.h"

#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/owning_tables.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/hypothetical.h"
#include "proto/text/parse.h"

namespace podsim {
namespace {

// The catalogue's, or that of the chip that the cluster brings.
std::string name_of_chip(const schema::ClusterChoice& choice, const Catalog::Entries& entries) {
  const schema::Chip* entry = choice.has_chip() ? find_chip(entries, choice.chip()) : nullptr;
  return entry ? entry->name() : choice.chip_override().name();
}

std::optional<double> carbon_of_power(const schema::ClusterChoice& choice) {
  if (choice.has_kg_per_kwh()) return choice.kg_per_kwh();
  return choice.has_grid() ? grid_kg_per_kwh(choice.grid()) : std::nullopt;
}

}  // namespace

OwnedChips owned_chips(const schema::ClusterChoice& choice, const Catalog::Entries& entries) {
  const schema::OwnedChips& owned = choice.owned();
  const schema::Hypothetical& factors = hypothetical_of(choice, entries);
  OwnedChips chips;
  chips.chip = name_of_chip(choice, entries);
  chips.own = usual_ownership();
  if (factors.has_price()) chips.price = factors.price();
  const auto known = known_capital(chips.chip);
  chips.known_capital = known || owned.has_chip_usd();
  const Capital capital = known.value_or(Capital{});
  Ownership& own = chips.own;
  own.chip_usd = chips.price * (owned.has_chip_usd() ? owned.chip_usd() : capital.chip_usd);
  own.host_usd = chips.price * (owned.has_host_usd() ? owned.host_usd() : capital.host_usd);
  own.network_usd = chips.price * (owned.has_network_usd() ? owned.network_usd() : capital.network_usd);
  own.hall_usd = chips.price * (owned.has_hall_usd() ? owned.hall_usd() : capital.hall_usd);
  if (owned.has_years()) own.years = owned.years();
  if (owned.has_interest()) own.interest = owned.interest();
  if (owned.has_residual_share()) own.residual_share = owned.residual_share();
  if (owned.has_operation_share_per_year()) own.operation_share_per_year = owned.operation_share_per_year();
  if (owned.has_utilisation()) own.utilisation = owned.utilisation();
  if (choice.has_usd_per_kwh()) own.usd_per_kwh = choice.usd_per_kwh();
  if (known) chips.embodied_kg = known->embodied_kg;
  if (choice.has_embodied_kg()) chips.embodied_kg = choice.embodied_kg();
  chips.kg_per_kwh = carbon_of_power(choice);
  return chips;
}

OwnedChips owned_chips(const std::string& text, const std::vector<Override>& overrides,
                       const Catalog& catalog) {
  Document document("scenario", text);
  schema::Scenario scenario;
  if (parse(document, scenario)) apply_overrides(overrides, scenario, document);
  return owned_chips(scenario.cluster(), catalog.entries());
}

}  // namespace podsim
