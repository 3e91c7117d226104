// Who slowed a simulated job down: its steps as a trace, and the what-if analysis of that.
#pragma once

#include <optional>

#include "scheduler/replay/recorded_trace.h"
#include "scheduler/replay/what_if.h"
#include "scheduler/simulate.h"
#include "scheduler/system.h"

namespace podsim {

// Simulates steps of the job, which is alone on the system, as `draw` does, but at most 4 and without jumps.
// Nothing where its passes have no operations in traces (scheduler/replay/simulated_trace.h).
std::optional<RecordedTrace> trace_of(const System& system, const LaidJob& job, const SimulateOptions& draw,
                                      bool every_rank);

// The analysis of the trace in which data ranks alike are one.
std::optional<WhatIf> attribute(const System& system, const LaidJob& job, const SimulateOptions& draw);

}  // namespace podsim
