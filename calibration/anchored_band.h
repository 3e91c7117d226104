// How sure a step is that measured ones have moved: never surer than they warrant.
#pragma once

#include <optional>
#include <vector>

#include "calibration/anchor_update.h"
#include "engine/units.h"
#include "report/answer/report.h"

namespace podsim {

// Standard deviations of the logarithm of a step, to either side of its prediction.
struct StepSpread {
  double below = 0, above = 0;
};

// Of a band from its 10th to its 90th percentile; 0 where there is none, and to a side on which it does not
// lie.
StepSpread spread_of(const std::optional<StepTimeBand>& band, Time step);

// s^2 = g' C g + noise^2 + (1 - m)^2 x excess to either side, for a step with slopes g.
//
// excess is by how much the variance of `before`, the spread without measured steps, is above g' g + noise^2,
// to which the spreads of all numbers sum up; 0 where it is not. It is what no number of the stack stands
// for: a misfit that all steps of a stack share, of which the offsets take the share m out of this step
// (`followed_along`). So measurements of no weight leave the spread as it was, kernels leave the excess, and
// a step that feels nothing of what was learned is as unsure as before.
//
// REQUIRES: a slope per parameter.
StepSpread anchored_spread(const Posterior& posterior, const std::vector<double>& slope, double noise,
                           const StepSpread& before);

// log(predicted / measured) in half widths of the band of this spread: above 1 the measured step is outside.
double beyond_band(double error, const StepSpread& spread);

// By what bands are to be widened for eight in ten of measured steps to lie in theirs; 1 where they do.
double widening(std::vector<double> beyond);

// From its 10th to its 90th percentile.
StepTimeBand anchored_band(Time step, const StepSpread& spread, double widened, int measurements);

}  // namespace podsim
