// Bounds of many stems at once: those whose passes take the same time but for what reaches over data ranks.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "planner/bounds/mesh_contexts.h"
#include "planner/bounds/stage_bound.h"
#include "planner/space/space.h"

namespace podsim {

// Whether a pass of a stem takes no less than where all other chips are in a pipeline, whichever optimizer
// state is cut; or are data ranks, where it has no pipeline and weights are cut. It does not on a
// torus, where passes depend on where all axes lie; where weights are cut beside a pipeline, or gradients
// alone, on what moves them least; and where GPUs are joined pair by pair, on the links of others that data
// may take on its way.
bool shares_passes(const Space& space, const JobLayout& stem);

// The layout whose passes stand for those of a stem and of many others, where it shares them; otherwise the
// stem itself, where every layer recomputes.
JobLayout timed_layout(const Space& space, const JobLayout& stem);

// Stems whose layouts that are `timed` have one mesh, timed layout by timed layout.
std::vector<std::vector<JobLayout>> stems_by_mesh(const std::vector<JobLayout>& stems,
                                                  const std::function<JobLayout(const JobLayout&)>& timed);

// Bounds of stems, quick where those of one timed layout follow one another, and those of one mesh. Not for
// several threads at once.
class PassTables {
 public:
  // `sums_are_free`: what it takes to add gradients to those of microbatches before counts as nothing.
  // REQUIRES: both outlive this object; the meshes are of the space's cluster.
  PassTables(const Space& space, MeshContexts& contexts, bool sums_are_free = false)
      : space_(space), contexts_(contexts), sums_are_free_(sums_are_free) {}

  const Space& space() const { return space_; }

  // A step of any of these layouts of a stem takes at least this long.
  double bound_s(const JobLayout& stem, const std::vector<JobLayout>& leaves);
  // The same where these are the times of its pieces.
  double bound_s(const StageTimes& times, const std::vector<JobLayout>& leaves);

  // The fullest chip of a layout of a stem holds at least this much: the first stage, by the activations of
  // its passes.
  Bytes memory(const JobLayout& stem, const JobLayout& leaf);

  // Of the stem's timed layout: of every part of the model, and then of every part where a layer keeps all
  // that others recompute. Where passes are shared, without optimizer, reductions and gathers.
  const StageTimes& times(const JobLayout& stem);

 private:
  // What a chip holds of one part: of weights and gradients, of optimizer state, and from a pass forward to
  // its pass back.
  struct Held {
    Bytes weights, state, passes, remade;
  };
  using ShapeKey = std::tuple<PipelineSchedule, int, int, int>;
  void look_up(const JobLayout& stem);
  StageShape& shape_of(const JobLayout& leaf);
  double passes_held(const PipelineShape& pipeline);

  const Space& space_;
  MeshContexts& contexts_;
  const bool sums_are_free_;
  std::optional<JobLayout> timed_;
  StageTimes times_;        // of the timed layout
  std::vector<Held> held_;  // likewise
  std::map<ShapeKey, StageShape> shapes_;
  std::map<ShapeKey, double> most_passes_;
};

// What the passes of a stem say of its layouts together.
struct StemPasses {
  std::vector<JobLayout> might_fit;  // of its layouts
  Time bound;                        // of their steps
  Bytes memory;                      // that any layout of the stem needs
};
// REQUIRES: there are layouts.
StemPasses passes_of(PassTables& tables, const JobLayout& stem, const std::vector<JobLayout>& leaves,
                     Bytes room);

}  // namespace podsim
