// Reports in which every figure that there can be is there once.
#pragma once

#include "report/answer/report.h"

namespace podsim {

Report every_figure();
JobsReport every_figure_of_jobs();

}  // namespace podsim
