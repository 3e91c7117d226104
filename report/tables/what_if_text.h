// The what-if figures of a job for a terminal: slowdowns, a heat map of workers, who waited for whom.
#pragma once

#include <string>

#include "scheduler/replay/what_if.h"

namespace podsim {

// Several tables.
std::string what_if_tables(const WhatIf& result);

// The same; the last line names the likely cause.
std::string what_if_text(const WhatIf& result);

// Slowdowns of workers, a line per data rank and a mark per stage: the darker the slower. Of many data ranks
// neighbours share a line, which shows the slowest.
std::string heat_map(const WhatIf& result);

// "data rank 0 stage 3", or "127 data ranks like 1 stage 3".
std::string name_of(const Worker& worker);

}  // namespace podsim
