// Annuities and energy by use.
#include "economics/ownership.h"

#include <cmath>

#include "engine/check.h"
#include "engine/unit_factors.h"

namespace podsim {
namespace {

// Paid at the end of each year for a debt of 1. Source: Brealey, Myers and Allen, Principles of Corporate
// Finance, annuities.
double annuity(double interest, double years) {
  if (interest == 0) return 1 / years;
  return interest / (1 - std::pow(1 + interest, -years));
}

// Saved at the end of each year to have 1 in the end.
double sinking_fund(double interest, double years) { return annuity(interest, years) - interest; }

double usd_of_power(double watts, double hours, double usd_per_kwh) {
  return watts / 1e3 * hours * usd_per_kwh;
}

}  // namespace

double used_hours(const Ownership& own) {
  PODSIM_CHECK(own.years > 0 && own.utilisation > 0 && own.utilisation <= 1, "a chip is used for some time");
  return own.years * kHoursPerYear * own.utilisation;
}

YearOfOwning year_of_owning(const Ownership& own, double busy_w, double idle_w) {
  PODSIM_CHECK(own.years > 0 && own.utilisation > 0 && own.utilisation <= 1, "a chip is used for some time");
  YearOfOwning year;
  const double residual_usd = own.residual_share * (own.chip_usd + own.host_usd + own.network_usd);
  year.capital_usd = own.capital_usd() * annuity(own.interest, own.years) -
                     residual_usd * sinking_fund(own.interest, own.years);
  year.operation_usd = own.operation_share_per_year * own.capital_usd();
  year.used_hours = kHoursPerYear * own.utilisation;
  year.busy_energy_usd = usd_of_power(busy_w * own.busy_pue, year.used_hours, own.usd_per_kwh);
  year.idle_energy_usd =
      usd_of_power(idle_w * own.idle_pue, kHoursPerYear - year.used_hours, own.usd_per_kwh);
  return year;
}

std::optional<double> break_even_utilisation(const Ownership& own, double busy_w, double idle_w,
                                             double rent_usd_per_chip_hour) {
  Ownership always = own;
  always.utilisation = 1;
  const YearOfOwning year = year_of_owning(always, busy_w, idle_w);
  const double idle_usd = usd_of_power(idle_w * own.idle_pue, kHoursPerYear, own.usd_per_kwh);
  // Fixed payments, and idle power in every hour, against what an hour of use saves.
  const double fixed = year.capital_usd + year.operation_usd + idle_usd;
  const double saved = rent_usd_per_chip_hour * kHoursPerYear - (year.busy_energy_usd - idle_usd);
  if (saved < fixed) return std::nullopt;
  return fixed / saved;
}

double chips_of_site(const Ownership& own, double busy_w, double site_kw) {
  return std::floor(site_kw * 1e3 / (busy_w * own.busy_pue));
}

}  // namespace podsim
