// The figures of how long a step takes, and where its time goes.
#pragma once

#include <array>
#include <vector>

#include "report/answer/report.h"
#include "report/figures/figure.h"

namespace podsim {

// A part of the step of the mean chip, by its name in tables.
struct StepBucket {
  const char* name;
  const char* key;
  Time Report::*time;
  int field, column;
  const char* definition;
};

// Of a step without adversities, then straggler_delay, by which these make it longer.
const std::array<StepBucket, 9>& step_buckets();

std::vector<Figure> step_figures(const Report& report);

}  // namespace podsim
