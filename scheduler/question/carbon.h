// The carbon of a cluster's power, and of making its chips.
#pragma once

#include <string>

namespace podsim {

// In kg of CO2e.
struct Carbon {
  std::string grid;                    // that the power is from; empty: by a number of the scenario
  double kg_per_kwh = 0;               // at the meter
  double making_kg_per_chip_hour = 0;  // of an hour of use, chip and its share of the host; 0: not known

  double kg(double kwh, double chip_hours) const {
    return kwh * kg_per_kwh + chip_hours * making_kg_per_chip_hour;
  }
};

}  // namespace podsim
