// A job on chips that are bought: what an hour costs by part, from which use on that beats renting, what
// power and carbon it takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "economics/ownership.h"
#include "proto/catalog/chip_prices.h"
#include "proto/catalog/owning_tables.h"
#include "report/answer/report.h"
#include "workload/job/chip.h"

namespace podsim {

// A way to rent the same chip.
struct Renting {
  PriceRow price;
  std::optional<double> break_even_utilisation;  // nothing: renting is cheaper at any use
};

struct OwningReport {
  std::string scenario, chip;
  int chips = 0;
  Ownership own;                     // as it was asked
  double busy_w = 0, idle_w = 0;     // of a chip with its share of host and network, before the PUE
  YearOfOwning year;                 // of one chip
  std::vector<Renting> renting;      // the scenario's own first, then as the price lists have them
  double power_range = 0;            // by which share watts may be off
  YearOfOwning low_year, high_year;  // with watts at either end of it
  double power_kw = 0, tokens_per_j = 0, model_gflop_per_j = 0;  // of the job, at the meter
  double carbon_kg_per_kwh = 0, embodied_kg = 0;
  double operational_kg_per_hour = 0, embodied_kg_per_hour = 0;  // of the job
  double kg_per_million_tokens = 0;
  std::optional<double> site_kw, site_chips;  // so many chips a site feeds
};

struct OwningQuestion {
  Ownership own;
  double embodied_kg = 0, carbon_kg_per_kwh = 0;
  std::optional<double> site_kw;
};

// `report` is of the job on these chips. Its power has the PUE of its price list taken out again.
OwningReport owning(const Report& report, const Chip& chip, int chips_per_host, double pue_of_report,
                    const OwningQuestion& question, const std::vector<PriceRow>& prices);

}  // namespace podsim
