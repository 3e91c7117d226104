// Charges the buckets of a run and the rest of its minimum term.
#include "economics/bill.h"

#include <algorithm>
#include <cmath>

namespace podsim {
namespace {

constexpr double kMicro = 1e6, kMsPerHour = 3.6e6, kMsPerDay = 24 * kMsPerHour;

}  // namespace

Usd Usd::of(double usd_per_chip_hour, Int128 chip_ms) {
  Usd usd;
  usd.amount_ = std::llround(usd_per_chip_hour * kMicro) * chip_ms;
  return usd;
}

double Usd::value() const { return static_cast<double>(amount_) / (kMicro * kMsPerHour); }

std::string_view to_string(BillItem item) {
  constexpr std::array<std::string_view, kBillItems> kNames = {"job", "idle spares", "out of order",
                                                               "rest of the term"};
  return kNames[static_cast<std::size_t>(item)];
}

Usd RunBill::total() const {
  Usd sum;
  for (const Usd part : usd) sum += part;
  return sum;
}

RunBill bill_of(const RunAccounts& accounts, std::int64_t chips, std::int64_t length_ms, const Price& price) {
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
  const double unused = 1 - price.rest_used_share;
  charge(BillItem::kRestOfTerm,
         chips * std::llround(unused * static_cast<double>(std::max<std::int64_t>(0, left_ms))));
  return bill;
}

double usd_of_run(double chips, double days, const Price& price) {
  const double rest_days = std::max(0.0, price.minimum_days - days) * (1 - price.rest_used_share);
  return chips * 24 * (days + rest_days) * price.usd_per_chip_hour;
}

}  // namespace podsim
