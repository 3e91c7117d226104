// A lower bound of a step from the times of its pieces: what a stage has to do, what must be over before, and
// what is left after.
#pragma once

#include <vector>

#include "planner/bounds/alone_times.h"
#include "planner/bounds/lone_chips.h"
#include "planner/bounds/pass_runs.h"
#include "planner/space/layout.h"
#include "workload/job/job.h"
#include "workload/model/model_program.h"
#include "workload/pipeline/pipeline.h"
#include "workload/pipeline/stages.h"

namespace podsim {

// Least seconds of one piece of the model.
struct PieceSeconds {
  // [Pass] of the chip from idle streams on; of its computations alone; in which it surely computes nothing;
  // of its host; of its gathers of weights and of its reductions of gradients, one after another; in which
  // links out of the chip are full of its activations, and of weights and gradients.
  struct OfPass {
    double chip = 0, compute = 0, blocked = 0, host = 0, gathers = 0, gradients = 0;
    LinkSeconds activations, weights;
  };
  OfPass of_pass[4];
  double optimizer = 0;      // computations
  double reduce = 0;         // of the step's reductions, by their bytes
  LinkSeconds reduce_links;  // in which links out of the chip are full of these
  // A pass forward, and one back whose activation collectives are on the stream beside those of the first: as
  // two passes do that take turns.
  std::vector<LoneOp> forward, backward_beside;
};

struct StageTimes {
  std::vector<PieceSeconds> pieces;  // [part of the model]
  double skew = 0;                   // share by which the slowest chip is behind
};

struct StageShape {
  PipelineShape pipeline;
  // [stage][chunk], runs by part of the model; behind these parts follow as many, that keep what those of
  // layers that recompute do not.
  std::vector<std::vector<ChunkShape>> chunks;
  std::vector<std::vector<PassRun>> runs;  // [stage] where passes take turns
};
// The microbatches of a layout are not in the chunks: layouts that differ in these alone share them.
// REQUIRES: the job deals layers out evenly.
StageShape stage_shape(const Job& job, const ModelProgram& model, const JobLayout& layout);
int microbatches_of(const Job& job, const JobLayout& layout);

// A step of the layout takes at least this long (docs/theory/search.md, "Stages"). O(stages x chunks).
double stage_bound_s(const Stack& stack, const StageTimes& times, const StageShape& shape);

}  // namespace podsim
