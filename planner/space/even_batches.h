// Global batches that come out even on some layout of a space.
#pragma once

#include <vector>

#include "scheduler/question/layout_space.h"
#include "scheduler/question/spec.h"

namespace podsim {

// Of the sequences of a step those nearest to the spec's that the data ranks and microbatches of some layout
// divide: the most below and the fewest above, ascending, or the spec's own. Empty where there is no layout,
// whatever the batch. REQUIRES: as Space.
std::vector<int> nearest_even_batches(const Spec& spec, const LayoutSpace& wanted);

}  // namespace podsim
