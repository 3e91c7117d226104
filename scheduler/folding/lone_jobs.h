// Which jobs of a system no other can slow down.
#pragma once

#include <vector>

#include "scheduler/folding/system.h"

namespace podsim {

// [job] Whether no link that may limit transfers carries both what this job sends and what another does:
// whatever the others do, it then makes the steps that it would make alone. O(uses of links by classes of
// groups), O(1) for one job.
std::vector<bool> lone_jobs(const System& system);

}  // namespace podsim
