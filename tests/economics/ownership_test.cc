// Buying against renting: a case by hand, and break-even utilisations at which both cost the same.
#include "economics/ownership.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/random.h"

namespace podsim::ownership_test {
namespace {

Ownership own_terms() {
  Ownership own;
  own.years = 4;
  own.interest = 0.08;
  own.operation_share_per_year = 0.05;
  own.usd_per_kwh = 0.08;
  own.utilisation = 0.8;
  return own;
}

TEST(Ownership, a_year_by_hand) {
  Ownership own = own_terms();
  own.chip_usd = 30'000;
  own.host_usd = 5'000;
  own.network_usd = 4'000;
  own.hall_usd = 1'000;
  own.years = 4;
  own.interest = 0.10;
  own.residual_share = 0.1;
  own.utilisation = 0.5;
  own.busy_pue = 1.2;
  own.idle_pue = 1.5;
  const YearOfOwning year = year_of_owning(own, 1000, 200);
  // 40,000 at 10 % over 4 years is 12,618.83 a year; a fund that grows to 3,900 takes 840.34.
  EXPECT_NEAR(year.capital_usd, 12'618.83 - 840.34, 0.01);
  EXPECT_NEAR(year.operation_usd, 2'000, 1e-9);
  EXPECT_NEAR(year.busy_energy_usd, 1.2 * 4380 * 0.08, 1e-9);
  EXPECT_NEAR(year.idle_energy_usd, 0.3 * 4380 * 0.08, 1e-9);
  EXPECT_NEAR(year.usd_per_used_hour(), year.usd() / 4380, 1e-12);
}

TEST(Ownership, without_interest_the_value_that_is_lost_is_paid_in_equal_parts) {
  Ownership own = own_terms();
  own.chip_usd = 8'000;
  own.interest = 0;
  own.years = 4;
  own.residual_share = 0.25;
  EXPECT_NEAR(year_of_owning(own, 0, 0).capital_usd, 1'500, 1e-9);
}

// At the break-even an hour costs the same owned and rented; with a little more use owning is cheaper.
TEST(OwnershipLaw, at_the_break_even_utilisation_both_cost_the_same) {
  int found = 0;
  for (std::uint64_t pair = 0; pair < 50; ++pair) {
    const auto draw = [&](std::uint64_t what, double low, double high) {
      return low + (high - low) * random_uniform(pair, RandomPurpose::kTest, what, 0);
    };
    Ownership own = own_terms();
    own.chip_usd = draw(0, 2'000, 50'000);
    own.host_usd = draw(1, 0, 8'000);
    own.network_usd = draw(2, 0, 5'000);
    own.hall_usd = draw(3, 0, 10'000);
    own.years = draw(4, 2, 7);
    own.interest = draw(5, 0, 0.15);
    own.residual_share = draw(6, 0, 0.3);
    own.usd_per_kwh = draw(7, 0.02, 0.3);
    own.busy_pue = draw(8, 1.05, 1.6);
    own.idle_pue = own.busy_pue + draw(9, 0, 0.4);
    const double busy_w = draw(10, 200, 1500), idle_w = draw(11, 50, 200), rent = draw(12, 1, 12);
    const auto tie = break_even_utilisation(own, busy_w, idle_w, rent);
    own.utilisation = 1;
    EXPECT_EQ(tie.has_value(), year_of_owning(own, busy_w, idle_w).usd_per_used_hour() <= rent) << pair;
    if (!tie) continue;
    ++found;
    own.utilisation = *tie;
    EXPECT_NEAR(year_of_owning(own, busy_w, idle_w).usd_per_used_hour() / rent, 1, 1e-9) << pair;
  }
  EXPECT_GT(found, 10);
}

TEST(Ownership, a_site_feeds_so_many_chips) {
  Ownership own = own_terms();
  own.busy_pue = 1.25;
  EXPECT_EQ(chips_of_site(own, 1000, 1000), 800);
}

}  // namespace
}  // namespace podsim::ownership_test
