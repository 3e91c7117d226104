// Runs on one fleet: queues by hand, and laws of random portfolios.
#include "economics/portfolio.h"

#include <gtest/gtest.h>

#include "engine/random.h"

namespace podsim::portfolio_test {
namespace {

// 100 chips: 60 and 40 run at once, the next 60 wait for the first, 30 fit beside them.
TEST(Portfolio, runs_wait_in_their_order_until_enough_chips_are_free) {
  const std::vector<FleetRun> runs = {{"a", 60, 10}, {"b", 40, 30}, {"c", 60, 5}, {"d", 40, 1}};
  const std::vector<FleetSlot> slots = place_runs(runs, 100);
  ASSERT_EQ(slots.size(), 4u);
  EXPECT_EQ(slots[0].begin, 0);
  EXPECT_EQ(slots[1].begin, 0);
  EXPECT_EQ(slots[2].begin, 10);
  EXPECT_EQ(slots[3].begin, 15);
  const std::vector<FleetLevel> levels = levels_of(runs, slots, 30);
  EXPECT_EQ(chip_days(levels), 60 * 10 + 40 * 30 + 60 * 5 + 40);
}

// The second waits for the first, and has half of its days within the term.
TEST(Portfolio, energy_is_that_of_the_days_within_the_term) {
  const std::vector<FleetRun> runs = {{"a", 60, 10, 0, 100}, {"b", 60, 20, 0, 300}, {"c", 60, 5, 0, 7}};
  EXPECT_DOUBLE_EQ(kwh_of_fleet(runs, place_runs(runs, 60), 20), 100 + 150);
}

// 50 chips work all year, 50 more a quarter of it: at 0.7 of the price on demand the first are worth a
// commitment and the others are not.
TEST(Portfolio, chips_whose_use_is_above_the_ratio_of_prices_are_worth_a_commitment) {
  const std::vector<FleetLevel> levels = {{91.25, 100}, {273.75, 50}};
  const FleetCost best = cheapest_commitment(levels, 2.1, 3);
  EXPECT_EQ(best.committed_chips, 50);
  EXPECT_DOUBLE_EQ(best.usd, 24 * (365 * 50 * 2.1 + 91.25 * 50 * 3));
  EXPECT_EQ(cheapest_commitment(levels, 0.7, 3).committed_chips, 100);
  EXPECT_EQ(cheapest_commitment(levels, 3.1, 3).committed_chips, 0);
  EXPECT_EQ(cheapest_commitment(levels, 0, 3).committed_chips, 100);
  EXPECT_EQ(cheapest_commitment(levels, std::nullopt, 3).committed_chips, 0);
  EXPECT_EQ(cheapest_commitment(levels, std::nullopt, 3e9).usd, 24 * (91.25 * 100 + 273.75 * 50) * 3e9);
}

TEST(PortfolioLaw, no_fleet_is_overbooked_no_work_is_lost_and_no_commitment_is_cheaper_than_the_best) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const auto draw = [&](std::uint64_t what) {
      return random_uniform(trial, RandomPurpose::kTest, what, 0);
    };
    std::vector<FleetRun> runs;
    double work = 0, days = 0;
    for (std::uint64_t i = 0; i < 8; ++i) {
      runs.push_back({"run", 1 + static_cast<int>(99 * draw(2 * i)), 1 + 50 * draw(2 * i + 1)});
      work += runs.back().chips * runs.back().days;
    }
    const std::vector<FleetSlot> slots = place_runs(runs, 100);
    ASSERT_EQ(slots.size(), runs.size());
    for (const FleetSlot& slot : slots) days = std::max(days, slot.end);
    const std::vector<FleetLevel> levels = levels_of(runs, slots, days);
    for (const FleetLevel& level : levels) EXPECT_LE(level.chips, 100) << trial;
    EXPECT_NEAR(chip_days(levels), work, 1e-9 * work) << trial;
    const double committed = 1 + draw(50), on_demand = 1 + draw(51);
    const FleetCost best = cheapest_commitment(levels, committed, on_demand);
    for (int chips = 0; chips <= 100; ++chips)
      EXPECT_LE(best.usd, cost_of_fleet(levels, chips, committed, on_demand).usd * (1 + 1e-12)) << trial;
  }
}

}  // namespace
}  // namespace podsim::portfolio_test
