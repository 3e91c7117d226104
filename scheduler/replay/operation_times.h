// How long every operation of a trace takes once it may move: traced and ideal durations for the replay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/replay/replay_graph.h"

namespace podsim {

// Columns are (step, data rank), ranks of one step together.
struct OperationTimes {
  std::vector<std::int32_t> steps;        // of the training run, ascending
  int data_ranks = 0;                     // recorded ones
  std::vector<std::int64_t> ranks_alike;  // [data rank] how many it stands for
  // [op * columns + column] s: the recorded duration, or for what moves data with others the part after the
  // last of them has started. May be a little below 0 where clocks disagree.
  std::vector<double> traced;
  // [op] s, the same for all ops of a type: the mean duration of a computation, else the median.
  std::vector<double> ideal;
  std::vector<double> recorded_step_s;  // [step] from the first start to the last end
  double recorded_mean_s = 0;           // of the steps

  std::size_t columns() const { return steps.size() * static_cast<std::size_t>(data_ranks); }
};

// Of these steps, of all when `only` is empty. Throws ReplayError for a step that the trace does not have and
// where a data rank or a step has an operation twice, too many or too few.
OperationTimes operation_times(const RecordedTrace& trace, const ReplayGraph& graph,
                               std::span<const std::int32_t> only);

}  // namespace podsim
