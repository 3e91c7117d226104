// Days, energy and dollars of it.
#include "cli/comparisons/whole_run.h"

#include "economics/bill.h"
#include "engine/unit_factors.h"
#include "report/summary/document_rate.h"

namespace podsim {

WholeRun whole_run(const Report& report, const Price& price, double tokens) {
  WholeRun run{tokens, tokens / document_tokens_per_s(report) / kSecondsPerDay, 0, 0, std::nullopt};
  const double hours = run.days * kHoursPerDay;
  run.mwh = report.power_kw * hours / kKwhPerMwh;
  run.usd = usd_of_run(report.chips, run.days, price) + run.mwh * kKwhPerMwh * price.usd_per_kwh;
  if (const auto& carbon = report.carbon)
    run.carbon_t = (carbon->power_kg_per_hour + carbon->making_kg_per_hour) * hours / kKgPerTonne;
  return run;
}

}  // namespace podsim
