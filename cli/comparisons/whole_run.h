// A run to a number of tokens at the speed of one report, in which nothing fails.
#pragma once

#include "report/report.h"
#include "report/scaling_figures.h"
#include "scheduler/question/price.h"

namespace podsim {

WholeRun whole_run(const Report& report, const Price& price, double tokens);

}  // namespace podsim
