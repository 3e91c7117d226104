// What measured steps of the user's own made of a prediction, for a terminal.
#pragma once

#include <string>

#include "report/answer/report.h"

namespace podsim {

std::string anchor_table(const AnchorReport& anchor);

}  // namespace podsim
