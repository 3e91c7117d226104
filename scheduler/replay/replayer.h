// Replays steps of a graph of operations with traced durations for some of them and ideal ones for the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scheduler/replay/operation_times.h"
#include "scheduler/replay/replay_graph.h"

namespace podsim {

// Which operations keep their traced durations.
using TracedOps = std::function<bool(const ReplayOp& op, int data_rank)>;

// An operation starts when all that it depends on have ended, or at 0; a group moves data once its last
// member has started, and each member ends after its own time from there:
//   launch(g) = max over members m of g, dependencies d of m:  end(d)
//   end(m)    = launch(g) + duration(m)
// In groups across ranks the first maximum runs over the data ranks, too. Steps do not interact.
class Replayer {
 public:
  // REQUIRES: both outlive it; the times are of the graph.
  Replayer(const ReplayGraph& graph, const OperationTimes& times)
      : graph_(graph), times_(times), end_(graph.ops.size() * times.columns()) {}

  // [step] s, the latest end of an op.
  std::vector<double> step_times(const TracedOps& traced);

  // s, of the last replay: [column] of an op.
  std::span<const double> ends_of(std::int32_t op) const {
    return {end_.data() + op * times_.columns(), times_.columns()};
  }
  // s, of the last replay: when the dependencies of an op had ended.
  double ready(std::int32_t op, std::size_t column) const;

 private:
  void launch(const ReplayGroup& group);
  void finish(std::int32_t op, const TracedOps& traced);

  const ReplayGraph& graph_;
  const OperationTimes& times_;
  std::vector<double> end_;     // [op * columns + column]
  std::vector<double> launch_;  // [column] of the group at hand
};

}  // namespace podsim
