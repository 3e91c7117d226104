// Fleets of chips and what they do, as a table and as JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "economics/portfolio.h"
#include "scheduler/question/carbon.h"

namespace podsim {

// Chips of one kind, and what they do.
struct Fleet {
  int chips = 0;
  int serving = 0;             // of the runs, those that come first and last for all days
  std::vector<FleetRun> runs;  // served models before trained ones
  std::vector<FleetSlot> slots;
  std::vector<FleetLevel> levels;
  double on_demand_usd = 0;                  // of a chip-hour
  std::optional<double> committed_usd = {};  // likewise, where there is such a price
  double usd_per_kwh = 0;
  double energy_usd = 0;                // of all that it does, whatever the contract
  std::optional<Carbon> carbon = {};    // of its power and its making, where the grid is known
  std::optional<double> carbon_t = {};  // CO2e of all that it does
  FleetCost commitment;                 // the cheapest, without energy
};

std::string fleet_text(const std::map<std::string, Fleet>& fleets, double days);
std::string fleet_json(const std::map<std::string, Fleet>& fleets, double days, const std::string& sha256);

}  // namespace podsim
