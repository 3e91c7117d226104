// What a run of weeks costs: hand-computed bills, and the law that every chip-hour and every dollar is in one
// line of the bill.
#include "economics/bill.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/random.h"
#include "scheduler/reliability/weeks/simulate_run.h"
#include "tests/rounds.h"

namespace podsim::bill_test {
namespace {

constexpr std::int64_t kHour = 3'600'000, kDay = 24 * kHour;  // milliseconds

Price price_of(ContractKind kind, double usd, double minimum_days = 0) {
  Price price;
  price.kind = kind;
  price.usd_per_chip_hour = usd;
  price.minimum_days = minimum_days;
  return price;
}

// 8 chips for 10 hours: two are broken for an hour, one is taken away for two, one is spare for four.
RunAccounts ten_hours() {
  RunAccounts accounts;
  accounts.charge(RunBucket::kRepair, 2 * kHour);
  accounts.charge(RunBucket::kTakenAway, 2 * kHour);
  accounts.charge(RunBucket::kIdleSpare, 4 * kHour);
  accounts.charge(RunBucket::kRecompute, 6 * kHour);
  accounts.charge(RunBucket::kProductive, 66 * kHour);
  return accounts;
}

TEST(Bill, on_demand_and_spot_do_not_charge_what_is_broken_or_taken_away) {
  for (const ContractKind kind : {ContractKind::kOnDemand, ContractKind::kSpot, ContractKind::kFlexStart}) {
    const RunBill bill = bill_of(ten_hours(), 8, 10 * kHour, price_of(kind, 2.5));
    EXPECT_DOUBLE_EQ(bill.total().value(), 76 * 2.5);
    EXPECT_DOUBLE_EQ(bill.usd_of(BillItem::kJob).value(), 72 * 2.5);
    EXPECT_EQ(bill.unpaid_chip_ms, 4 * kHour);
  }
}

TEST(Bill, what_is_reserved_committed_or_owned_is_paid_while_it_is_out) {
  for (const ContractKind kind : {ContractKind::kCalendar, ContractKind::kReservation,
                                  ContractKind::kCommitment, ContractKind::kOwned}) {
    const RunBill bill = bill_of(ten_hours(), 8, 10 * kHour, price_of(kind, 2.5));
    EXPECT_DOUBLE_EQ(bill.total().value(), 80 * 2.5);
    EXPECT_DOUBLE_EQ(bill.usd_of(BillItem::kOutOfOrder).value(), 4 * 2.5);
    EXPECT_EQ(bill.unpaid_chip_ms, 0);
  }
}

// 60 days of a commitment of 365: the other 305 are paid too, unless other work uses them.
TEST(Bill, a_commitment_that_ends_early_is_paid_to_its_end) {
  RunAccounts accounts;
  accounts.charge(RunBucket::kProductive, 100 * 60 * kDay);
  Price price = price_of(ContractKind::kCommitment, 2, 365);
  EXPECT_DOUBLE_EQ(bill_of(accounts, 100, 60 * kDay, price).total().value(), 100 * 365 * 24 * 2.0);
  EXPECT_DOUBLE_EQ(usd_of_run(100, 60, price), 100 * 365 * 24 * 2.0);
  price.rest_used_share = 0.8;
  const RunBill bill = bill_of(accounts, 100, 60 * kDay, price);
  EXPECT_DOUBLE_EQ(bill.usd_of(BillItem::kRestOfTerm).value(), 100 * 305 * 0.2 * 24 * 2);
  EXPECT_NEAR(bill.total().value(), usd_of_run(100, 60, price), 1e-6);
}

TEST(Bill, a_run_that_outlasts_its_term_pays_the_term_once) {
  RunAccounts accounts;
  accounts.charge(RunBucket::kProductive, 10 * 400 * kDay);
  const Price price = price_of(ContractKind::kCommitment, 2, 365);
  EXPECT_DOUBLE_EQ(bill_of(accounts, 10, 400 * kDay, price).total().value(), 10 * 400 * 24 * 2.0);
}

// 500 GB once, 100 GB on each of ten days and 24 checkpoints of 50 GB are 2.7 TB: 216 USD at 0.08.
TEST(Bill, what_leaves_the_provider_is_paid_by_the_gigabyte_beside_chip_time) {
  Price price = price_of(ContractKind::kOnDemand, 2.5);
  price.egress_usd_per_gb = 0.08;
  const std::int64_t mb = egress_mb({500, 100, 50}, 10 * kDay, 24);
  EXPECT_EQ(mb, 2'700'000);
  const RunBill bill = bill_of(ten_hours(), 8, 10 * kHour, price, mb);
  EXPECT_DOUBLE_EQ(bill.usd_of(BillItem::kEgress).value(), 216);
  EXPECT_DOUBLE_EQ(bill.total().value(), 76 * 2.5 + 216);
  EXPECT_EQ(bill.of(BillItem::kEgress), 0);
}

int drawn(std::uint64_t week, std::uint64_t what, int most) {
  return static_cast<int>(random_bits(week, RandomPurpose::kTest, what, 0) %
                          static_cast<std::uint64_t>(most + 1));
}

// Preemptions and two kinds of failures, repairs, spares, and at times an early end.
TrainingRun random_run(std::uint64_t week) {
  TrainingRun run;
  run.nodes_per_unit = 1 + drawn(week, 0, 3);
  run.units = 1 + drawn(week, 1, 7);
  run.spare_units = drawn(week, 2, 3);
  run.length = Milliseconds::seconds(86400.0 * (1 + drawn(week, 3, 13)));
  if (drawn(week, 4, 1) == 1)  // ends early
    run.work_chip_ms = run.job_chips() * run.length.ms / (2 + drawn(week, 5, 3));
  for (std::uint64_t s = 0; s < 3; ++s) {
    const std::uint64_t what = 10 * (s + 1);
    FailureSource source;
    source.component = s == 0 ? Component::kPreemption : Component::kHost;
    source.per_s = (1 + drawn(week, what, 6)) / 86400.0;
    source.domain_nodes = drawn(week, what + 1, 4);
    source.repair = {Delay::Kind::kExponential, 600.0 * drawn(week, what + 2, 20), 0};
    source.notice = Milliseconds::seconds(15.0 * drawn(week, what + 3, 2));
    run.failures.push_back(source);
  }
  run.recovery.restart.mean_s = 120;
  run.checkpoints.interval = Milliseconds::seconds(1800);
  run.checkpoints.pause = Milliseconds::seconds(20);
  return run;
}

// Random weeks with preemptions, repairs, spares, slow links and early ends, under random contracts: lines of
// the bill and what is not charged are all chip-time and the rest of the term, to the millisecond, and their
// dollars the price of it, to the last micro-dollar.
TEST(BillLaw, chip_time_and_dollars_add_up_under_every_contract) {
  std::int64_t taken = 0, rest = 0, unpaid = 0, moved = 0;
  for (int w = 0; w < testing::rounds(1000); ++w) {
    const auto week = static_cast<std::uint64_t>(w);
    const TrainingRun run = random_run(week);
    const RunResult result = simulate_run(run, week);
    Price price = price_of(static_cast<ContractKind>(drawn(week, 50, 6)),
                           0.001 * (1 + drawn(week, 51, 12'000)), drawn(week, 52, 20));
    price.rest_used_share = 0.25 * drawn(week, 53, 4);

    price.egress_usd_per_gb = 0.001 * drawn(week, 54, 120);
    const Egress egress{0.001 * drawn(week, 55, 100'000), 0.1 * drawn(week, 56, 1'000),
                        0.001 * drawn(week, 57, 50'000)};
    const std::int64_t mb = egress_mb(egress, result.end.ms, result.checkpoints);

    const RunBill bill = bill_of(result.accounts, run.chips(), result.end.ms, price, mb);
    std::int64_t charged = 0;
    Usd lines;
    for (std::size_t i = 0; i < kBillItems; ++i) {
      charged += bill.chip_ms[i];
      lines += bill.usd[i];
      EXPECT_GE(bill.chip_ms[i], 0) << w;
    }
    const std::int64_t of_run = charged - bill.of(BillItem::kRestOfTerm);
    ASSERT_EQ(of_run + bill.unpaid_chip_ms, run.chips() * result.end.ms) << w;
    ASSERT_EQ(bill.usd_of(BillItem::kEgress), Usd::of_megabytes(price.egress_usd_per_gb, mb)) << w;
    ASSERT_EQ(lines, Usd::of(price.usd_per_chip_hour, charged) + bill.usd_of(BillItem::kEgress)) << w;
    ASSERT_EQ(lines, bill.total()) << w;
    taken += result.accounts[RunBucket::kTakenAway];
    rest += bill.of(BillItem::kRestOfTerm);
    unpaid += bill.unpaid_chip_ms;
    moved += bill.egress_mb;
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(rest, 0);
  EXPECT_GT(unpaid, 0);
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace podsim::bill_test
