// The figures of how long a step takes, where its time goes, and which parts of it are shown by name.
#pragma once

#include <array>
#include <cstddef>
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

// A time as a share of another; 0 of none.
inline double time_share(Time part, Time whole) {
  return whole.ps == 0 ? 0 : part.in_seconds() / whole.in_seconds();
}

// The exposed collectives that tables and pictures show by name: those of at least a thousandth of the step.
struct ShownExposures {
  std::vector<std::size_t> named;  // in Report::exposed, in its order
  Time others;                     // all that have no line of their own
};
ShownExposures shown_exposures(const Report& report);

std::vector<Figure> step_figures(const Report& report);

}  // namespace podsim
