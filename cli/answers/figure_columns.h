// The main figures of a report as one row of a table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/answer/report.h"

namespace podsim {

// Headings first, then a row a report: step time, throughput, MFU, where time is lost, cost, memory; of
// several draws also how sure the step time is.
std::vector<std::vector<std::string>> figure_rows(std::span<const Report> reports);

}  // namespace podsim
