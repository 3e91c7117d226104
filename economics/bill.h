// What a run of weeks costs under a contract, each chip-hour once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/units.h"
#include "scheduler/question/price.h"
#include "scheduler/reliability/weeks/buckets.h"

namespace podsim {

// Whole micro-dollars per chip-hour times whole chip-milliseconds, or per GB times whole MB: sums are exact,
// in any order.
class Usd {
 public:
  Usd() = default;
  static Usd of(double usd_per_chip_hour, Int128 chip_ms);
  static Usd of_megabytes(double usd_per_gb, Int128 mb);
  double value() const;

  Usd& operator+=(Usd other) {
    amount_ += other.amount_;
    return *this;
  }
  friend Usd operator+(Usd a, Usd b) { return a += b; }
  friend bool operator==(Usd, Usd) = default;

 private:
  Int128 amount_ = 0;
};

// What is paid for, or not.
enum class BillItem : std::uint8_t {
  kJob,         // chips that the job has, whatever they do
  kIdleSpare,   // that stand by
  kOutOfOrder,  // that are paid though they are out of order, or taken away
  kRestOfTerm,  // what is left of the minimum term when the run ends, and nobody else uses
  kEgress,      // what leaves the provider: no chip-time
};
inline constexpr std::size_t kBillItems = 5;
// "job", "idle spares", "out of order", "rest of the term", "egress"
std::string_view to_string(BillItem item);

struct RunBill {
  std::array<std::int64_t, kBillItems> chip_ms = {};
  std::int64_t egress_mb = 0;
  std::int64_t unpaid_chip_ms = 0;  // out of order or taken away, by contracts that do not charge it
  std::array<Usd, kBillItems> usd = {};

  std::int64_t of(BillItem item) const { return chip_ms[static_cast<std::size_t>(item)]; }
  Usd usd_of(BillItem item) const { return usd[static_cast<std::size_t>(item)]; }
  Usd total() const;
};

// To the MB, of a run of this length that saved so many checkpoints.
std::int64_t egress_mb(const Egress& egress, std::int64_t length_ms, std::int64_t checkpoints);

// `chips` are held for `length_ms`, which the accounts are of. Without energy.
RunBill bill_of(const RunAccounts& accounts, std::int64_t chips, std::int64_t length_ms, const Price& price,
                std::int64_t egress_mb = 0);

// Of what is left of a minimum term when a run ends, in any unit, as much as is paid: what no other work
// uses.
double rest_paid(const Price& price, double left);

// Of chips alone, in a run in which nothing fails.
double usd_of_run(double chips, double days, const Price& price);

}  // namespace podsim
