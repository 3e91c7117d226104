// Bounds of many stems at once: those whose passes take the same time but for what reaches over data ranks.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "planner/bounds/mesh_context.h"
#include "planner/bounds/stage_bound.h"
#include "planner/space/space.h"
#include "topology/fabric.h"

namespace podsim {

// What the time of a pass depends on: chips along tensor, context and expert axes, whether there is a
// pipeline, microbatch and recompute.
using PassKey = std::tuple<int, int, int, int, bool, int, Recompute>;
PassKey pass_key(const JobLayout& stem);

// Whether the passes of a stem are those of its key: on a torus they depend on where all axes lie, where only
// some layers recompute on all pieces, and where weights or gradients are cut on what moves them least.
bool has_pass_key(const Space& space, const JobLayout& stem);

// The stems that PassTables times on one mesh, key by key.
std::vector<std::vector<JobLayout>> stems_by_mesh(const std::vector<JobLayout>& stems);

// Bounds of stems, quick where those of one key follow one another, and keys of one mesh. Not for several
// threads at once.
class PassTables {
 public:
  // REQUIRES: space and fabric outlive this object.
  PassTables(const Space& space, const Fabric& fabric) : space_(space), fabric_(fabric) {}

  // A step of any of these layouts of a stem takes at least this long. REQUIRES: has_pass_key(stem).
  double bound_s(const JobLayout& stem, const std::vector<JobLayout>& leaves);

  // Of the stem's key. REQUIRES: has_pass_key(stem).
  const StageTimes& times(const JobLayout& stem);

 private:
  const Space& space_;
  const Fabric& fabric_;
  std::vector<MeshAxis> mesh_;
  std::optional<MeshContext> context_;  // of the mesh
  std::optional<PassKey> key_;
  StageTimes times_;  // of the key
  std::map<std::tuple<PipelineSchedule, int, int>, StageShape> shapes_;
};

}  // namespace podsim
