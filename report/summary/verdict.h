// What slowed a simulated job down: the adversities that it was given, by the step without them.
#pragma once

#include <string>

#include "report/answer/report.h"

namespace podsim {

// From the report's times and fault costs. The what-if replay of the steps, which does not know what was
// injected, is held against it; `no_replay` says why there is none. REQUIRES: there are fault costs.
StragglerVerdict verdict_of(const Report& report, const std::string& no_replay);

// A few lines for a terminal.
std::string verdict_table(const StragglerVerdict& verdict);

// One sentence: "Stragglers make the step 6.3% longer: the cause is chip 137 at speed 0.8, 98.0% of it."
std::string verdict_sentence(const StragglerVerdict& verdict);

}  // namespace podsim
