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

// The offsets between which a slope is taken: so many spreads to either side, as far as bounds let it.
OffsetRange stencil(const AnchorPrior& prior, const Stack& stack, double offset, double reach, bool known);

// [spec][parameter] change of the logarithm of the step time per unit of offset, without the specs'
// adversities: over the stencil, 0 where no way is left.
std::vector<std::vector<double>> step_slopes(const AnchorPriors& priors, bool known,
                                             const std::vector<const Spec*>& specs,
                                             const std::vector<double>& offsets, double reach, int threads);

}  // namespace podsim
