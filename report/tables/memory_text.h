// Memory for a terminal: the stage that needs most part by part, and the stages side by side.
#pragma once

#include <string>

#include "report/answer/report.h"

namespace podsim {

// The stages follow where there are several; of more than eight the eight that need most.
std::string memory_table(const MemoryReport& use);

// "risk: 4 % of memory free: allocator retries likely" where less than the share is free; empty where more
// is, or where it does not fit.
std::string memory_risk(double needed, double capacity, double retry_free_share);

}  // namespace podsim
