// The report about weeks for a terminal.
#pragma once

#include <string>

#include "report/reliability.h"

namespace podsim {

// Tables with units; says of each what is by formula and what is simulated.
std::string reliability_table(const ReliabilityReport& report);

}  // namespace podsim
