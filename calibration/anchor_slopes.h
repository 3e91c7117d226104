// How much a step feels each number that measured steps may move.
#pragma once

#include <vector>

#include "calibration/anchor_priors.h"
#include "scheduler/question/spec.h"

namespace podsim {

// The spec with its stack moved. REQUIRES: an offset per parameter.
Spec spec_at(const AnchorPriors& priors, bool known, Spec spec, const std::vector<double>& offsets);

// Logarithm of the predicted step time in seconds.
double log_step(const Spec& spec);

// Half a spread up, or down where a bound is in the way; 0 where no way is left.
double secant_step(const AnchorPrior& prior, const Stack& stack, double offset, bool known);

// [spec][parameter] change of the logarithm of the step time per unit of offset, without the specs'
// adversities.
std::vector<std::vector<double>> step_slopes(const AnchorPriors& priors, bool known,
                                             const std::vector<const Spec*>& specs,
                                             const std::vector<double>& offsets, int threads);

}  // namespace podsim
