// What would make a job fit: changes tried on the job itself, each with the step that it leads to.
#pragma once

#include <vector>

#include "report/answer/report.h"
#include "topology/fabric.h"

namespace podsim {

struct Spec;

// The mildest degree of each change that is enough, fastest step first; before them up to three pairs of
// changes with faster steps, or, where no single change is enough, the fastest pairs. Where no pair is
// either, one set of changes, or, with `fits` false, the set that comes nearest. `fabric` has no adversities,
// the job lies from `first_chip` on. REQUIRES: the job of `spec` is valid and does not fit.
std::vector<MemoryChange> memory_advice(const Spec& spec, const Fabric& fabric, ChipId first_chip);

}  // namespace podsim
