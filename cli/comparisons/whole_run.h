// A run to a number of tokens at the speed of one report, in which nothing fails.
#pragma once

#include "report/answer/report.h"
#include "report/figures/scaling_figures.h"
#include "scheduler/question/price.h"

namespace podsim {

WholeRun whole_run(const Report& report, const Price& price, double tokens);

}  // namespace podsim
