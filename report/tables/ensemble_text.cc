// Lays out the spread over several seeds.
#include "report/tables/ensemble_text.h"

#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// More digits than elsewhere: intervals of many seeds are narrow.
std::string seconds(Time time) { return significant(time.in_seconds(), 6); }

}  // namespace

std::string interval_text(const std::optional<ConfidenceInterval>& interval) {
  return interval ? seconds(interval->low) + " to " + seconds(interval->high) : "-";
}

std::string seeds_text(const Report& report) {
  if (!report.ensemble) return "seed " + std::to_string(report.seed);
  const std::uint64_t last = report.seed + static_cast<std::uint64_t>(report.ensemble->seeds - 1);
  return "seeds " + std::to_string(report.seed) + " to " + std::to_string(last);
}

std::string ensemble_table(const Report& report) {
  const EnsembleReport& ensemble = *report.ensemble;
  return align({
      {"step time over " + significant(ensemble.seeds, 1) + " seeds", "s", "95 % confidence"},
      {"mean", seconds(report.step_time), interval_text(ensemble.mean)},
      {"median", seconds(report.step_time_p50), interval_text(ensemble.p50)},
      {"p99", seconds(report.step_time_p99), interval_text(ensemble.p99)},
      {"shortest", seconds(ensemble.shortest), ""},
      {"longest", seconds(ensemble.longest), ""},
      {"standard deviation", seconds(ensemble.standard_deviation),
       significant(100 * ensemble.coefficient_of_variation, 3) + "% of the mean"},
  });
}

std::string ensemble_verdict(const Report& report) {
  return "Chance leaves the mean step time between " + seconds(report.ensemble->mean.low) + " and " +
         seconds(report.ensemble->mean.high) + " s (95 % confidence, " +
         significant(report.ensemble->seeds, 1) + " seeds).\n";
}

}  // namespace podsim
