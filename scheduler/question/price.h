// What chips cost, and by which contract.
#pragma once

#include <cstdint>
#include <string>

namespace podsim {

// How capacity is got, which decides what is paid when it is not used.
enum class ContractKind : std::uint8_t {
  kOnDemand,     // by the hour, given back at will
  kSpot,         // likewise, and it can be taken away
  kFlexStart,    // likewise for some days, when there is some; not taken away
  kCalendar,     // a block of days, paid as a whole
  kReservation,  // held for the user, paid until it is given up
  kCommitment,   // for years
  kOwned,
};

// Two contracts by name: the one where nobody says another, and chips that are bought, whose hour is
// reckoned.
inline constexpr const char* kOnDemandTerm = "on_demand";
inline constexpr const char* kOwnedTerm = "owned";

// Whether chips that are out of order, or that were taken away, are paid all the same.
constexpr bool pays_when_out(ContractKind kind) { return kind >= ContractKind::kCalendar; }

struct Price {
  std::string name;  // catalogue name of the price list
  std::string term;  // "on_demand", "committed_1y", "committed_3y", "spot", ...
  std::string provider, region;
  ContractKind kind = ContractKind::kOnDemand;
  double usd_per_chip_hour = 0;
  double low_usd_per_chip_hour = 0,
         high_usd_per_chip_hour = 0;  // as offered; both = the price where nobody says
  double minimum_days = 0;            // are paid, however early the run ends
  double rest_used_share = 0;         // of what is left of them then, by other work
  double usd_per_kwh = 0;             // energy on top; 0 when the price includes it
  double pue = 1;                     // facility power / IT power
  double egress_usd_per_gb = 0;       // of what leaves the provider
};

// What leaves the provider in a run of weeks, in GB.
struct Egress {
  double once = 0, per_day = 0, per_checkpoint = 0;
  bool any() const { return once > 0 || per_day > 0 || per_checkpoint > 0; }
};

}  // namespace podsim
