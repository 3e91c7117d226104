// What pages tell of a step beyond its report, as figures: JSON of a run has them behind those of the report
// where they were asked for.
#pragma once

#include <vector>

#include "report/figures/figure.h"
#include "report/pictures/step_detail.h"

namespace podsim {

// Lists "collectives", "operations", "links_by_class" and "near_runs", in the order of the detail.
std::vector<Figure> detail_figures(const StepDetail& detail);

}  // namespace podsim
