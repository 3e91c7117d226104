// The list of every published figure. JSON, text format, CSV and rows of tables are made from it, and so are
// proto/report.proto and the tables of docs/reference/report.md (tests/report/update).
#pragma once

#include <string>
#include <vector>

#include "report/answer/report.h"
#include "report/figures/figure.h"

namespace podsim {

// What a report for other programs begins with.
std::vector<Figure> header_figures(const std::string& scenario_sha256);

// In the order of JSON.
std::vector<Figure> figures(const Report& report);
std::vector<Figure> figures(const JobsReport& report);

// What a job has beside its two reports.
std::vector<Figure> own_figures(const JobReport& job);

// Sections of `figures(report)` that tables show as they are.
std::vector<Figure> throughput_figures(const Report& report);
std::vector<Figure> cost_figures(const Report& report);

}  // namespace podsim
