// Whether microbatches that take long forward take long backward: the mark of unequal sequence lengths.
#pragma once

#include <optional>

#include "scheduler/replay/operation_times.h"

namespace podsim {

// Pearson's correlation of the forward and backward times of the microbatches, each taken from the mean of
// its data rank, stage and chunk, so that a slow worker or an unequal stage does not correlate. Nothing
// where microbatches are not recorded or times do not vary.
std::optional<double> length_correlation(const ReplayGraph& graph, const OperationTimes& times);

}  // namespace podsim
