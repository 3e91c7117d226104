// A run to a number of tokens at the speed of one report, in which nothing fails.
#pragma once

#include <optional>

#include "report/report.h"
#include "scheduler/question/price.h"

namespace podsim {

struct WholeRun {
  double tokens = 0, days = 0, mwh = 0, usd = 0;  // with the rest of a contract's minimum term
  std::optional<double> carbon_t;
};

WholeRun whole_run(const Report& report, const Price& price, double tokens);

}  // namespace podsim
