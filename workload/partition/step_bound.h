// How long a step takes at least: nonsense is told before it is simulated.
#pragma once

#include "workload/model/model_program.h"

namespace podsim {

struct Chip;
struct Job;

// Does a rule, an annotation or the pipeline cut anything over the mesh axis, or a measured layer send along
// it?
bool axis_used(const Job& job, const ModelProgram& model, int axis);

// Seconds of the matmuls, of the memory-bound operations or of the optimizer, whichever is most, spread
// evenly over the axes in use. REQUIRES: the chip has the job's dtype.
double shortest_step_s(const Job& job, const ModelProgram& model, const Chip& chip);

}  // namespace podsim
