// Tokens over their rate, and what so many days cost.
#include "economics/steady_run.h"

#include "economics/bill.h"
#include "engine/unit_factors.h"

namespace podsim {

SteadyRun steady_run(const SteadyStep& step, double tokens, const Price& price,
                     const std::optional<Carbon>& carbon) {
  SteadyRun run;
  run.days = tokens / step.tokens_per_s / kSecondsPerDay;
  run.mwh = tokens * step.j_per_token / kJoulesPerMwh;
  const double kwh = run.mwh * kKwhPerMwh;
  run.usd = usd_of_run(step.chips, run.days, price) + kwh * price.usd_per_kwh;
  if (carbon) run.carbon_t = carbon->kg(kwh, step.chips * run.days * kHoursPerDay) / kKgPerTonne;
  return run;
}

}  // namespace podsim
