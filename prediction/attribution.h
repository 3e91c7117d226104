// Who slowed a simulated job down: its steps as a trace, and the what-if analysis of that.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scheduler/folding/system.h"
#include "scheduler/replay/recorded_trace.h"
#include "scheduler/replay/what_if.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

struct LaidJob;

// Steps that are analysed: enough for the mean of jittered ones; what is kept grows with them.
inline constexpr int kMostTracedSteps = 4;
// Classes of chips up to which a run is analysed unasked. With chance in every operation each chip is a
// class, and to keep what tens of thousands did takes as long as to simulate them.
inline constexpr std::size_t kMostTracedClasses = 4096;

// The first steps of the job, which is alone on the system. `timeline` is that of `draw`; where it has no
// passes, for it jumps over repetitions, as many steps are simulated again without. Nothing where passes of
// the job have no operations in traces (scheduler/replay/simulated_trace.h).
std::optional<RecordedTrace> trace_of(const System& system, const LaidJob& job, const SimulateOptions& draw,
                                      const Timeline& timeline, bool every_rank);

struct Attribution {
  std::optional<WhatIf> what_if;
  std::string impossible;  // why there is none: too many classes, no trace, or one that cannot be replayed
};

// The analysis of the trace in which data ranks alike are one.
Attribution attribute(const System& system, const LaidJob& job, const SimulateOptions& draw,
                      const Timeline& timeline);

}  // namespace podsim
