// Charges the buckets of a run and the rest of its minimum term.
#include "economics/bill.h"

#include <algorithm>
#include <cmath>

#include "engine/unit_factors.h"

namespace podsim {
namespace {

constexpr double kMicro = 1e6, kMbPerGb = 1000;

}  // namespace

Usd Usd::of(double usd_per_chip_hour, Int128 chip_ms) {
  Usd usd;
  usd.amount_ = std::llround(usd_per_chip_hour * kMicro) * chip_ms;
  return usd;
}

// A micro-dollar per chip-hour and millisecond is 1 / 3.6e12 of a dollar, one per GB and MB 1 / 1e9.
Usd Usd::of_megabytes(double usd_per_gb, Int128 mb) {
  constexpr int kMsPerMb = 3600;
  Usd usd;
  usd.amount_ = std::llround(usd_per_gb * kMicro) * mb * kMsPerMb;
  return usd;
}

double Usd::value() const { return static_cast<double>(amount_) / (kMicro * kMsPerHour); }

std::string_view to_string(BillItem item) {
  constexpr std::array<std::string_view, kBillItems> kNames = {"job", "idle spares", "out of order",
                                                               "rest of the term", "egress"};
  return kNames[static_cast<std::size_t>(item)];
}

Usd RunBill::total() const {
  Usd sum;
  for (const Usd part : usd) sum += part;
  return sum;
}

std::int64_t egress_mb(const Egress& egress, std::int64_t length_ms, std::int64_t checkpoints) {
  const double days = static_cast<double>(length_ms) / kMsPerDay;
  return std::llround(kMbPerGb * (egress.once + egress.per_day * days)) +
         std::llround(kMbPerGb * egress.per_checkpoint) * checkpoints;
}

RunBill bill_of(const RunAccounts& accounts, std::int64_t chips, std::int64_t length_ms, const Price& price,
                std::int64_t egress_mb) {
  RunBill bill;
  const auto charge = [&](BillItem item, std::int64_t chip_ms) {
    bill.chip_ms[static_cast<std::size_t>(item)] = chip_ms;
    bill.usd[static_cast<std::size_t>(item)] = Usd::of(price.usd_per_chip_hour, chip_ms);
  };
  const std::int64_t out = accounts[RunBucket::kRepair] + accounts[RunBucket::kTakenAway];
  charge(BillItem::kJob, accounts.of_job());
  charge(BillItem::kIdleSpare, accounts[RunBucket::kIdleSpare]);
  charge(BillItem::kOutOfOrder, pays_when_out(price.kind) ? out : 0);
  bill.unpaid_chip_ms = out - bill.of(BillItem::kOutOfOrder);
  const std::int64_t left_ms = std::llround(price.minimum_days * kMsPerDay) - length_ms;
  charge(BillItem::kRestOfTerm, chips * std::llround(rest_paid(price, static_cast<double>(left_ms))));
  bill.egress_mb = egress_mb;
  bill.usd[static_cast<std::size_t>(BillItem::kEgress)] =
      Usd::of_megabytes(price.egress_usd_per_gb, egress_mb);
  return bill;
}

double rest_paid(const Price& price, double left) {
  return (1 - price.rest_used_share) * std::max(0.0, left);
}

// Hours times what an hour costs, as cost_of_fleet has it: both come to the same to the last digit.
double usd_of_run(double chips, double days, const Price& price) {
  const double paid_days = days + rest_paid(price, price.minimum_days - days);
  return paid_days * kHoursPerDay * (chips * price.usd_per_chip_hour);
}

}  // namespace podsim
