// The step as instruction streams: its passes in the order of the schedule.
#pragma once

#include "scheduler/lowering/instructions.h"

namespace podsim {

struct FabricSpec;
struct Spec;
struct Stack;

// `merge` joins neighbouring computations into one instruction: the same time, fewer events. Random jitter
// needs them apart.
LoweredStep lower(const StepProgram& program, const Spec& spec, bool merge);

// Wait for the slowest host, as a share of computation: of many draws from a narrow distribution the slowest
// grows about as the logarithm of their number. `devices` run the job.
double skew_of(const Stack& stack, const FabricSpec& fabric, int devices);

}  // namespace podsim
