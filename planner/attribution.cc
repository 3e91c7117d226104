// Simulates once more, keeping what every chip class did.
#include "planner/attribution.h"

#include <algorithm>

#include "scheduler/replay/simulated_trace.h"

namespace podsim {
namespace {

// Enough for the mean of jittered steps; what is kept grows with them.
constexpr int kMostTracedSteps = 4;

}  // namespace

std::optional<RecordedTrace> trace_of(const System& system, const LaidJob& job, const SimulateOptions& draw,
                                      bool every_rank) {
  if (!explain_untraceable(job).empty()) return std::nullopt;
  SimulateOptions how = draw;
  how.steps = std::min(draw.steps, kMostTracedSteps);
  how.keep_intervals = false;
  how.keep_passes = true;
  return simulated_trace(system, job, simulate(system, how).front(), every_rank);
}

std::optional<WhatIf> attribute(const System& system, const LaidJob& job, const SimulateOptions& draw) {
  const auto trace = trace_of(system, job, draw, false);
  if (!trace) return std::nullopt;
  return what_if(*trace, {});
}

}  // namespace podsim
