// The step as instruction streams: its passes in the order of the schedule.
#pragma once

#include "scheduler/lowering/instructions.h"

namespace podsim {

struct Spec;

// `merge` joins neighbouring computations into one instruction: the same time, fewer events. Random jitter
// needs them apart.
LoweredStep lower(const StepProgram& program, const Spec& spec, bool merge);

// Adds the step of a further job, which becomes job number `job`.
void append(LoweredStep& all, LoweredStep step, int job);

}  // namespace podsim
