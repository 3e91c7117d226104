// Bounds of many stems at once: those whose passes take the same time but for what reaches over data ranks.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "planner/bounds/mesh_context.h"
#include "planner/bounds/stage_bound.h"
#include "planner/bounds/stem_bounds.h"
#include "planner/space/space.h"
#include "topology/fabric.h"

namespace podsim {

// What the time of a pass depends on: chips along tensor, context and expert axes, chips that share one copy
// of the weights, whether there is a pipeline, microbatch and recompute.
using PassKey = std::tuple<int, int, int, int, int, bool, int, Recompute>;
PassKey pass_key(const JobLayout& stem);

// Whether the passes of a stem are those of its key: on a torus they depend on where all axes lie; where
// weights are cut beside a pipeline, or gradients alone, on what moves them least; and where GPUs are joined
// pair by pair, on the links of others that data may take on its way.
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

  // The fullest chip of a layout of a stem holds at least this much: the first stage, by the activations of
  // its passes. REQUIRES: has_pass_key(stem).
  Bytes memory(const JobLayout& stem, const JobLayout& leaf);

  // Of the stem's key: of every part of the model, and then of every part where a layer keeps all that others
  // recompute. REQUIRES: has_pass_key(stem).
  const StageTimes& times(const JobLayout& stem);

 private:
  // What a chip holds of one part: of weights and gradients, of optimizer state, and from a pass forward to
  // its pass back.
  struct Held {
    Bytes weights, state, passes, remade;
  };
  void look_up(const JobLayout& stem);
  const PassesAlone& passes_by(const JobLayout& stem, Recompute recompute);
  StageShape& shape_of(const JobLayout& leaf);
  double passes_held(const PipelineShape& pipeline);

  const Space& space_;
  const Fabric& fabric_;
  std::vector<MeshAxis> mesh_;
  std::optional<MeshContext> context_;        // of the mesh
  std::map<PassKey, PassesAlone> of_policy_;  // of the mesh, every layer by the policy of the key
  std::optional<PassKey> key_;
  StageTimes times_;        // of the key
  std::vector<Held> held_;  // likewise
  std::map<std::tuple<PipelineSchedule, int, int, int>, StageShape> shapes_;
  std::map<std::tuple<PipelineSchedule, int, int, int>, double> most_passes_;
};

// What the passes of a stem say of its layouts together.
struct StemPasses {
  std::vector<JobLayout> might_fit;  // of its layouts
  Time bound;                        // of their steps
  Bytes memory;                      // that any layout of the stem needs
};
// REQUIRES: has_pass_key(stem); there are layouts.
StemPasses passes_of(PassTables& tables, const JobLayout& stem, const std::vector<JobLayout>& leaves,
                     Bytes room);

}  // namespace podsim
