// The list of every published figure of a plan's row: JSON, CSV and the limits of a question are made from
// it.
#pragma once

#include <vector>

#include "report/figures/figure.h"

namespace podsim {

struct PlanQuestion;
struct PlanRow;

// In the order of JSON.
std::vector<Figure> plan_row_figures(const PlanQuestion& question, const PlanRow& row);

}  // namespace podsim
