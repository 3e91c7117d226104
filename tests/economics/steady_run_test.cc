// A run without failures, by hand.
#include "economics/steady_run.h"

#include <gtest/gtest.h>

#include "economics/bill.h"

namespace podsim::steady_run_test {
namespace {

// A million tokens a second for ten days on 100 chips of 2 USD, at 0.036 J a token.
constexpr double kTokens = 864e9;
const SteadyStep kStep = {.chips = 100, .tokens_per_s = 1e6, .j_per_token = 0.036};

Price price() {
  Price price;
  price.usd_per_chip_hour = 2;
  return price;
}

TEST(SteadyRun, takes_tokens_over_their_rate_and_pays_for_chips_and_energy) {
  Price paid = price();
  const SteadyRun run = steady_run(kStep, kTokens, paid);
  EXPECT_DOUBLE_EQ(run.days, 10);
  EXPECT_DOUBLE_EQ(run.mwh, 8.64);
  EXPECT_DOUBLE_EQ(run.usd, 10 * 24 * 100 * 2);
  EXPECT_FALSE(run.carbon_t);
  paid.usd_per_kwh = 0.5;
  EXPECT_DOUBLE_EQ(steady_run(kStep, kTokens, paid).usd, 48000 + 4320);
}

TEST(SteadyRun, pays_the_rest_of_a_minimum_term_as_its_bill_does) {
  Price paid = price();
  paid.kind = ContractKind::kCommitment;
  paid.minimum_days = 30;
  paid.rest_used_share = 0.25;
  const double usd = steady_run(kStep, kTokens, paid).usd;
  EXPECT_DOUBLE_EQ(usd, (10 + 0.75 * 20) * 24 * 100 * 2);
  constexpr std::int64_t kTenDaysMs = 10 * 86'400'000LL;
  RunAccounts accounts;
  accounts.charge(RunBucket::kProductive, 100 * kTenDaysMs);
  EXPECT_DOUBLE_EQ(bill_of(accounts, 100, kTenDaysMs, paid).total().value(), usd);
}

TEST(SteadyRun, emits_by_its_energy_and_by_the_hours_of_its_chips) {
  const Carbon carbon{.grid = "x", .kg_per_kwh = 0.5, .making_kg_per_chip_hour = 0.01};
  EXPECT_DOUBLE_EQ(*steady_run(kStep, kTokens, price(), carbon).carbon_t, 4.32 + 0.24);
}

}  // namespace
}  // namespace podsim::steady_run_test
