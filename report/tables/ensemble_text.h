// The spread over several seeds for a terminal.
#pragma once

#include <string>

#include "report/answer/report.h"

namespace podsim {

// "1.18693 to 1.18714", or "-" where the seeds are too few.
std::string interval_text(const std::optional<ConfidenceInterval>& interval);

// "seed 3", or "seeds 3 to 102" of an ensemble.
std::string seeds_text(const Report& report);

// Mean, median and p99 with their confidence intervals, and the extremes. REQUIRES: the report has an
// ensemble.
std::string ensemble_table(const Report& report);

// How far chance may move the mean, one line. REQUIRES: the report has an ensemble.
std::string ensemble_verdict(const Report& report);

}  // namespace podsim
