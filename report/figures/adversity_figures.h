// The figures of what went wrong, and who delayed whom.
#pragma once

#include <vector>

#include "report/answer/report.h"
#include "report/figures/figure.h"

namespace podsim {

std::vector<Figure> adversity_figures(const Report& report);

}  // namespace podsim
