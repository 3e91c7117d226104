// What is known of owning chips: capital by part, usual terms, carbon of grids.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "economics/critical_batch.h"
#include "economics/ownership.h"

namespace podsim {

// What is known of a chip's capital: scenarios/economics/capital.csv.
struct Capital {
  double chip_usd = 0, host_usd = 0, network_usd = 0, hall_usd = 0;
  double embodied_kg = 0;  // of CO2e, to make the chip with its share of the host
  std::string source;
};
std::optional<Capital> known_capital(const std::string& chip);

// Names of scenarios/economics/grids.csv, and the carbon of a kWh there.
std::vector<std::string> grid_names();
std::optional<double> grid_kg_per_kwh(const std::string& region);

// What to write instead of a name that is none of them.
std::string unknown_grid_hint(const std::string& name);

// Years, interest, operation, price of power and utilisation where nobody says otherwise:
// scenarios/economics/terms.csv. Without capital.
Ownership usual_ownership();

// How much chips draw while they wait, and their hosts; how far watts of the catalogue may be off: likewise.
struct PowerTerms {
  double waiting_share = 0, host_w = 0, host_share = 0, range = 0;
};
PowerTerms usual_power();

// Published laws of the critical batch: likewise.
BatchLaws usual_batch_laws();

// What servers of models reach of rooflines, give weights and cache of a chip's memory, and add up of an
// element of an activation: likewise.
struct ServingTerms {
  double share = 0, memory_share = 0, activation_bytes = 0;
};
ServingTerms usual_serving();

}  // namespace podsim
