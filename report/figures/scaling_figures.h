// What podsim scale tells of a size beyond its report, as figures: text format and CSV have them behind those
// of the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "economics/steady_run.h"
#include "report/figures/figure.h"

namespace podsim {

struct WholeRun : SteadyRun {
  double tokens = 0;
};

struct ScaledSize {
  std::string scaling;    // weak or strong
  double efficiency = 1;  // throughput per chip over that of the first size
  int microbatches = 1, stages = 1;
  double sequences_per_chip = 1;
  std::optional<WholeRun> run;
};

std::vector<Figure> scaling_figures(const ScaledSize& size);

}  // namespace podsim
