// The layout that a scenario itself has, on clusters of other sizes.
#pragma once

#include "planner/space/layout.h"
#include "scheduler/question/layout_space.h"

namespace podsim {

struct OwnLayout {
  JobLayout layout;
  bool all_at_once = false;  // no microbatch is stated (Job::all_at_once)
};

// That layout alone: data ranks take what chips of the cluster there are, and a microbatch that is not stated
// is all that a rank has there.
LayoutSpace space_of(const OwnLayout& own, const Spec& cluster);

}  // namespace podsim
