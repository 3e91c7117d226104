// Bounds of many stems at once: those whose passes take the same time but for what reaches over data ranks.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "planner/bounds/stage_bound.h"
#include "planner/space/space.h"
#include "topology/fabric.h"

namespace podsim {

// What the time of a pass depends on: chips along tensor, context and expert axes, whether there is a
// pipeline, microbatch and recompute.
using PassKey = std::tuple<int, int, int, int, bool, int, Recompute>;
PassKey pass_key(const JobLayout& stem);

// Whether the passes of a stem are those of its key: on a torus they depend on where all axes lie, and which
// layers recompute on all pieces.
bool has_pass_key(const Space& space, const JobLayout& stem);

// Bounds of the stems of one key. Not for several threads at once.
class PassTable {
 public:
  // REQUIRES: has_pass_key(stem); space and fabric outlive this object.
  PassTable(const Space& space, const Fabric& fabric, const JobLayout& stem);

  // A step of any of the layouts, which are of one stem of the key, takes at least this long.
  double bound_s(const std::vector<JobLayout>& leaves);

 private:
  const Space& space_;
  StageTimes times_;
  std::map<std::tuple<PipelineSchedule, int, int>, StageShape> shapes_;
};

}  // namespace podsim
