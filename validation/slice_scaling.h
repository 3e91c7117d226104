// How well measured runs scale over slices, and how well they are predicted to.
#pragma once

#include <string>
#include <vector>

#include "validation/validate_runs.h"

namespace podsim {

// Runs that differ in the number of slices alone, with as many tokens per chip: throughput per chip over that
// of the run on the fewest slices.
struct SlicePoint {
  std::string id, chip, model;
  int from = 1, to = 1;                                           // slices
  double measured = 1, predicted = 1;                             // efficiency; 1 = perfect
  double points() const { return 100 * (predicted - measured); }  // of efficiency
};

// In the order of the runs. Runs without a measured or a predicted time are left out.
std::vector<SlicePoint> slice_scaling(const std::vector<PredictedRun>& runs);

struct SlicePointSummary {
  int points = 0;
  double mean = 0;      // absolute, points of efficiency
  double within_3 = 0;  // share of points that are at most 3 off
};
SlicePointSummary summarize(const std::vector<SlicePoint>& points);

}  // namespace podsim
