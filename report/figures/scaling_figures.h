// What podsim scale tells of a size beyond its report, as figures: text format and CSV have them behind those
// of the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/figures/figure.h"

namespace podsim {

// A run to a number of tokens in which nothing fails.
struct WholeRun {
  double tokens = 0, days = 0, mwh = 0, usd = 0;  // with the rest of a contract's minimum term
  std::optional<double> carbon_t;
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
