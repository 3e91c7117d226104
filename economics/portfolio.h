// Several runs over a year on one fleet: when each can run, how much of the fleet they use, and what of it is
// worth a commitment.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace podsim {

struct FleetRun {
  std::string name;
  int chips = 0;  // with those that stand by
  double days = 0;
  int spare_chips = 0;  // of them, that stand by
  double kwh = 0;       // of all its days
};

// When a run has its chips, in days from the start of the term.
struct FleetSlot {
  double begin = 0, end = 0;
};

// Each run, in this order, as early as enough of the fleet's chips are free for all of its days; none begins
// before the one in front of it. REQUIRES: no run has more chips than the fleet.
std::vector<FleetSlot> place_runs(const std::vector<FleetRun>& runs, int fleet_chips);

// Chips at work between two changes.
struct FleetLevel {
  double days = 0;
  int chips = 0;
};
// Of the first `days` days; runs that end later are cut off there.
std::vector<FleetLevel> levels_of(const std::vector<FleetRun>& runs, const std::vector<FleetSlot>& slots,
                                  double days);

struct FleetCost {
  int committed_chips = 0;
  double usd = 0;
};
// So many chips are paid for all days, used or not, and what is at work beyond them by the hour.
FleetCost cost_of_fleet(const std::vector<FleetLevel>& levels, int committed_chips, double committed_usd,
                        double on_demand_usd);

// The commitment that costs least, the smallest of equals: chips whose use is above the ratio of prices; none
// where there is no price of committed chips.
FleetCost cheapest_commitment(const std::vector<FleetLevel>& levels, std::optional<double> committed_usd,
                              double on_demand_usd);

// What runs use until then, evenly over their days.
double kwh_of_fleet(const std::vector<FleetRun>& runs, const std::vector<FleetSlot>& slots, double days);

double chip_days(const std::vector<FleetLevel>& levels);

}  // namespace podsim
