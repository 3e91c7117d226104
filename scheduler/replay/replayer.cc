// One pass over the groups in their order; every line of work is an array over steps and data ranks.
#include "scheduler/replay/replayer.h"

#include <algorithm>
#include <limits>

#include "engine/check.h"

namespace podsim {

std::vector<double> Replayer::step_times(const TracedOps& traced) {
  for (const ReplayGroup& group : graph_.groups) {
    launch(group);
    for (const std::int32_t op : graph_.members_of(group)) finish(op, traced);
  }
  PODSIM_CHECK(times_.ideal.size() == graph_.ops.size(), "the times are of the graph");
  PODSIM_CHECK(times_.data_ranks > 0, "some rank has recorded");
  const std::size_t ranks = static_cast<std::size_t>(times_.data_ranks);
  std::vector<double> steps(times_.steps.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
    const double* end = end_.data() + op * times_.columns();
    for (double& step : steps) {
      for (std::size_t r = 0; r < ranks; ++r) step = std::max(step, end[r]);
      end += ranks;
    }
  }
  return steps;
}

double Replayer::ready(std::int32_t op, std::size_t column) const {
  const auto dependencies = graph_.dependencies_of(op);
  if (dependencies.empty()) return 0;
  double latest = -std::numeric_limits<double>::infinity();
  for (const std::int32_t before : dependencies) latest = std::max(latest, ends_of(before)[column]);
  return latest;
}

void Replayer::launch(const ReplayGroup& group) {
  const std::size_t columns = times_.columns(), ranks = static_cast<std::size_t>(times_.data_ranks);
  launch_.assign(columns, -std::numeric_limits<double>::infinity());
  for (const std::int32_t op : graph_.members_of(group)) {
    if (graph_.dependencies_of(op).empty())
      for (double& time : launch_) time = std::max(time, 0.0);
    for (const std::int32_t before : graph_.dependencies_of(op)) {
      const double* end = end_.data() + before * columns;
      for (std::size_t c = 0; c < columns; ++c) launch_[c] = std::max(launch_[c], end[c]);
    }
  }
  if (!group.across_ranks) return;
  for (auto first = launch_.begin(); first != launch_.end(); first += static_cast<std::ptrdiff_t>(ranks))
    std::fill_n(first, ranks, *std::max_element(first, first + static_cast<std::ptrdiff_t>(ranks)));
}

void Replayer::finish(std::int32_t op, const TracedOps& traced) {
  const std::size_t columns = times_.columns(), ranks = static_cast<std::size_t>(times_.data_ranks);
  const double* duration = times_.traced.data() + op * columns;
  double* end = end_.data() + op * columns;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (traced(graph_.ops[op], static_cast<int>(r))) {
      for (std::size_t c = r; c < columns; c += ranks) end[c] = launch_[c] + duration[c];
    } else {
      for (std::size_t c = r; c < columns; c += ranks) end[c] = launch_[c] + times_.ideal[op];
    }
  }
}

}  // namespace podsim
