// Reports out: text format and JSON.
#pragma once

#include <string>
#include <vector>

#include "report/answer/report.h"
#include "report/figures/figure.h"
#include "report/pictures/step_detail.h"

namespace podsim {

std::string report_textproto(const Report& report);
std::string report_textproto(const JobsReport& report);

// Stable keys, documented in docs/reference/report.md; numbers in shortest round-trip form, times in seconds
// with 12 decimals.
std::string report_json(const Report& report);
std::string report_json(const JobsReport& report);

// With what pages tell of the step behind it (report/pictures/detail_figures.h), where that is known.
std::string report_textproto(const Report& report, const StepDetail* detail);
std::string report_json(const Report& report, const StepDetail* detail);
// With more figures behind it, whose fields RunReport has.
std::string report_textproto(const Report& report, const std::vector<Figure>& more);

}  // namespace podsim
