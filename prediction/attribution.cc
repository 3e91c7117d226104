// Takes what every chip class did from the simulation, or simulates once more.
#include "prediction/attribution.h"

#include <algorithm>
#include <string>

#include "scheduler/folding/laid_job.h"
#include "scheduler/replay/replay_graph.h"
#include "scheduler/replay/simulated_trace.h"

namespace podsim {

std::optional<RecordedTrace> trace_of(const System& system, const LaidJob& job, const SimulateOptions& draw,
                                      const Timeline& timeline, bool every_rank) {
  if (!explain_untraceable(job).empty()) return std::nullopt;
  if (!timeline.passes.empty()) return simulated_trace(system, job, timeline, every_rank);
  SimulateOptions how = draw;
  how.steps = std::min(draw.steps, kMostTracedSteps);
  how.keep_intervals = false;
  how.keep_passes = kMostTracedSteps;
  return simulated_trace(system, job, simulate(system, how).front(), every_rank);
}

Attribution attribute(const System& system, const LaidJob& job, const SimulateOptions& draw,
                      const Timeline& timeline) {
  if (system.chips.size() > kMostTracedClasses)
    return {{}, "there are more than " + std::to_string(kMostTracedClasses) + " classes of chips"};
  const auto trace = trace_of(system, job, draw, timeline, false);
  if (!trace) return {{}, explain_untraceable(job)};
  try {
    return {what_if(*trace, {}), ""};
  } catch (const ReplayError& error) {
    return {{}, error.what()};
  }
}

}  // namespace podsim
