// Lower bounds of all layouts of a stem: those that differ in their schedule and chunks alone.
#pragma once

#include <string>
#include <vector>

#include "engine/units.h"
#include "planner/bounds/mesh_context.h"
#include "planner/bounds/stage_bound.h"
#include "planner/space/layout.h"
#include "workload/partition/partitioned_model.h"

namespace podsim {

class StemBounds {
 public:
  // `spec` has the stem's layout. REQUIRES: all outlive this object.
  StemBounds(const Spec& spec, const MeshContext& context);

  // As planner/bounds/stage_bound.h.
  double stage_bound_s(const JobLayout& layout) const;

  // Bytes on the fullest chip. `ends_only`: of the first and the last stage, a lower bound.
  Bytes memory(const JobLayout& layout, bool ends_only) const;

  const StageTimes& times() const { return times_; }

 private:
  StageShape shape_of(const JobLayout& layout) const;
  int kind_named(const std::string& name) const;

  const Spec& spec_;
  PartitionedModel pieces_;
  StageTimes times_;
};

// Of a mesh that has all chips along tensor, expert, context and either pipeline or data axes: no less than
// this do the passes of any mesh take that has the same of these axes, microbatch and recompute, since its
// groups lie where some group of that mesh lies. Optimizer, reductions and gathers count as nothing.
struct PassesAlone {
  StageTimes times;
  std::vector<PartitionedPart> parts;
};
PassesAlone passes_alone(const Spec& spec, const MeshContext& context);

// No layout of the stem holds less on its fullest chip: weights, gradients and optimizer state of a model of
// so many parameters, cut by every axis that could. Takes no partition.
Bytes least_state(const Job& job, const JobLayout& stem, double parameters);

// A step of the layout in `spec` takes at least this long (docs/theory/search.md, "Relaxed"): its own
// instructions, carried out by one chip per stage.
double relaxed_bound_s(const Spec& spec, const MeshContext& context);

// The operations of the model by the fastest of the chip's matrix units, and no communication at all.
double arithmetic_bound_s(const Spec& spec);

// Rounding of single operations to whole picoseconds is in none of the bounds: they count as so much less.
Time rounded_down(double bound_s);

}  // namespace podsim
