// Which jobs meet on links in the definition of a step: rule 2 of simulate.h.
#pragma once

#include "scheduler/folding/system.h"

namespace podsim::reference {

// Whether no other job sends on a link that may limit what this one does. REQUIRES: the system has the job.
bool meets_nobody(const System& system, int job);

}  // namespace podsim::reference
