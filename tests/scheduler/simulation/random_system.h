// Random jobs on random fabrics of at most 64 chips, with what may be slow or missing there.
#pragma once

#include <vector>

#include "scheduler/folding/laid_job.h"
#include "tests/scheduler/simulation/random_step.h"

namespace podsim::testing {

// One or two jobs: pipelines of uneven stages, blocks with collectives over any axes and tokens with fan-out.
// Straight, twisted and open tori, slices over a DCN, servers on fat-trees of two or three tiers whose
// domains need not fit the axes; every routing. Cables, ports, switches and optical circuit switches are
// missing where the rest hangs together without them; chips and links are slow, always and for a time.
struct RandomSystem {
  Fabric fabric;  // without what has failed
  std::vector<LaidJob> jobs;
  Adversities adversities;  // slow parts
  int steps = 1;
};
RandomSystem random_system(int round);

}  // namespace podsim::testing
