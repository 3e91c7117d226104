// Days, energy and dollars of it.
#include "cli/comparisons/whole_run.h"

#include "economics/bill.h"

namespace podsim {

WholeRun whole_run(const Report& report, const Price& price, double tokens) {
  constexpr double kSecondsPerDay = 86400, kJoulesPerMwh = 3.6e9, kMillion = 1e6, kKwhPerMwh = 1e3;
  WholeRun run{tokens, tokens / report.tokens_per_s / kSecondsPerDay,
               tokens * report.energy_j_per_token / kJoulesPerMwh, 0, std::nullopt};
  run.usd = usd_of_run(report.chips, run.days, price) + run.mwh * kKwhPerMwh * price.usd_per_kwh;
  if (report.carbon) run.carbon_t = tokens / kMillion * report.carbon->kg_per_million_tokens / 1000;
  return run;
}

}  // namespace podsim
