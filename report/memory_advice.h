// What would make a job fit: changes tried one by one on the job itself.
#pragma once

#include <string>
#include <vector>

#include "engine/units.h"
#include "workload/job.h"

namespace podsim {

// Each line is a change, or a set of changes, with the memory per chip that it leads to; the last resort says
// what is left. REQUIRES: explain_invalid(job) is empty and the job needs more than `capacity` bytes on a
// chip.
std::vector<std::string> memory_advice(const Job& job, Bytes capacity);

}  // namespace podsim
