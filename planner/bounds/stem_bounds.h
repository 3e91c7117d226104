// Lower bounds of all layouts of a stem: those that differ in their schedule and chunks alone.
#pragma once

#include <memory>
#include <vector>

#include "engine/units.h"
#include "planner/bounds/mesh_context.h"
#include "planner/bounds/stage_bound.h"
#include "planner/bounds/timed_pieces.h"
#include "planner/space/layout.h"

namespace podsim {

// What is known besides of the layouts that a stem stands for.
struct StemScope {
  bool keeping_too = false;   // some may recompute only a part of the layers
  bool passes_alone = false;  // what optimizer and reductions take counts as nothing
};

class StemBounds {
 public:
  // `spec` has the stem's layout. REQUIRES: all outlive this object.
  StemBounds(const Spec& spec, const MeshContext& context, const StemScope& scope = {});

  // As planner/bounds/stage_bound.h.
  double stage_bound_s(const JobLayout& layout) const;

  // As relaxed_bound_s of the layout. REQUIRES: the spec has the layout.
  double relaxed_bound_s(const JobLayout& layout) const;

  // Bytes on the fullest chip. `ends_only`: of the first and the last stage, a lower bound.
  Bytes memory(const JobLayout& layout, bool ends_only) const;

  // [part of the model], and behind these the parts that keep all, where only some layers recompute.
  const StageTimes& times() const { return times_; }
  const std::vector<PartitionedPart>& parts() const { return parts_; }

 private:
  StageShape shape_of(const JobLayout& layout) const;
  MemoryUse memory(const StageShape& shape, int stage) const;

  const Spec& spec_;
  const MeshContext& context_;
  const std::shared_ptr<const TimedPieces> by_policy_;
  StageTimes times_;
  std::vector<PartitionedPart> parts_;
};

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
