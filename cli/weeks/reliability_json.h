// The report about weeks as JSON.
#pragma once

#include <string>

#include "report/answer/reliability.h"

namespace podsim {

// An object; what is by formula is below "closed_form", what is simulated below "event_simulation".
std::string reliability_json(const ReliabilityReport& report);

}  // namespace podsim
