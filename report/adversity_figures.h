// The figures of what went wrong, and who delayed whom.
#pragma once

#include <vector>

#include "report/figure.h"
#include "report/report.h"

namespace podsim {

std::vector<Figure> adversity_figures(const Report& report);

}  // namespace podsim
