// What chips cost that are bought: capital by part, interest, residual value, operation and power; and from
// which use on buying beats renting.
#pragma once

#include <optional>

namespace podsim {

// Of one chip with its share of everything.
struct Ownership {
  double chip_usd = 0, host_usd = 0, network_usd = 0, hall_usd = 0;
  double years = 0;                     // in use
  double interest = 0;                  // a year
  double residual_share = 0;            // of chip, host and network, at the end
  double operation_share_per_year = 0;  // of all capital: staff, spares, maintenance
  double usd_per_kwh = 0;
  double utilisation = 0;             // share of the hours in which the chip works for somebody
  double busy_pue = 1, idle_pue = 1;  // facility over machines, while it works and while it waits

  double capital_usd() const { return chip_usd + host_usd + network_usd + hall_usd; }
};

// Of a chip and a year. `busy_w` and `idle_w` are those of the machine, hosts and network included.
struct YearOfOwning {
  double capital_usd = 0;  // equal payments that pay back capital and interest, less the residual value
  double operation_usd = 0;
  double busy_energy_usd = 0, idle_energy_usd = 0;
  double used_hours = 0;

  double usd() const { return capital_usd + operation_usd + busy_energy_usd + idle_energy_usd; }
  double usd_per_used_hour() const { return usd() / used_hours; }
};

// Of a chip, until it is written off. REQUIRES, here and below: years > 0, 0 < utilisation <= 1.
double used_hours(const Ownership& own);

YearOfOwning year_of_owning(const Ownership& own, double busy_w, double idle_w);

// The utilisation from which on an hour of a chip costs less owned than rented, power included in either.
// Nothing where renting is cheaper even at full use.
std::optional<double> break_even_utilisation(const Ownership& own, double busy_w, double idle_w,
                                             double rent_usd_per_chip_hour);

// So many chips a site of this power can feed while all of them work.
double chips_of_site(const Ownership& own, double busy_w, double site_kw);

}  // namespace podsim
