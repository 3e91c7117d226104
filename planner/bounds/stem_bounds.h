// Lower bounds of all layouts of a stem: those that differ in their schedule and chunks alone.
#pragma once

#include <string>
#include <vector>

#include "engine/units.h"
#include "planner/bounds/mesh_context.h"
#include "planner/space/layout.h"
#include "workload/partition/partitioned_model.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

// Least seconds of one piece of the model.
struct PieceSeconds {
  // [Pass] of the chip from idle streams on; of its computations alone; of its host; of its gathers of
  // weights and of its reductions of gradients, one after another.
  struct OfPass {
    double chip = 0, compute = 0, host = 0, gathers = 0, gradients = 0;
  };
  OfPass of_pass[4];
  double optimizer = 0;  // computations
  double reduce = 0;     // of the step's reductions, by their bytes
};

class StemBounds {
 public:
  // `spec` has the stem's layout. REQUIRES: all outlive this object.
  StemBounds(const Spec& spec, const MeshContext& context);

  // A step of the layout takes at least this long (docs/theory/search.md, "Stages"). O(stages x chunks).
  double stage_bound_s(const JobLayout& layout) const;

  // Bytes on the fullest chip. `ends_only`: of the first and the last stage, a lower bound.
  Bytes memory(const JobLayout& layout, bool ends_only) const;

 private:
  struct Shape {
    PipelineShape pipeline;
    std::vector<std::vector<ChunkShape>> chunks;  // [stage][chunk]
  };
  Shape shape_of(const JobLayout& layout) const;
  int kind_named(const std::string& name) const;
  PieceSeconds::OfPass of_chunk(const ChunkShape& chunk, Pass pass) const;

  const Spec& spec_;
  PartitionedModel pieces_;
  std::vector<PieceSeconds> seconds_;  // [part]
  double skew_ = 0;
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
