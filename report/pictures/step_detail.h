// What pictures show of a simulated step beyond the figures of its report: passes along time, operations,
// collectives, links.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/units.h"
#include "report/pictures/collective_uses.h"
#include "report/pictures/drawing.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

// What a stage computes from one pass of its order, from the first computation to the last.
struct PassSpan {
  Time begin, end;
  std::vector<PipelineTask> tasks;  // two that run in turns; none: the optimizer and what else is once a step
  // Within, what is computed: computations that follow each other, or nearly so.
  std::vector<std::pair<Time, Time>> busy;
};

struct StagePasses {
  int stage = 0;
  ChipId chip = 0;
  std::int64_t alike = 1;       // chips of its class
  std::vector<PassSpan> spans;  // in order
};

// Activations that a stage holds, as a share of the most.
struct HeldShare {
  Time at;
  double share = 0;
};

// An operation of the model on one device.
struct OperationUse {
  std::string part, name;
  OpClass op_class = OpClass::kMatmul;
  bool backward = false;
  double flops = 0, hbm_bytes = 0, seconds = 0;  // once
  double times = 0;                              // in a step of the mean chip
  std::string shape = {};                        // "[4096 x 8192] x [8192 x 1280]"
  double tile_loss = 1;                          // of a matmul on a GPU: op_cost.h
};

struct Roof {
  double flops_per_s = 0;            // dense peak
  double sustained_flops_per_s = 0;  // what a large matmul reaches
  double hbm_bytes_per_s = 0;        // of the best copy
};

// A measured run that tells how sure the prediction is.
struct NearRun {
  std::string run;
  double ratio = 1;  // measured / predicted step time
};

struct LinkClassUse {
  std::string kind;
  std::int64_t links = 0;
  Bandwidth bandwidth;
  double share = 0;  // of what one of them could carry
};

struct StepDetail {
  Time step;  // the first, which passes are of
  std::vector<StagePasses> stages;
  std::vector<HeldShare> held;  // of the stage `fullest`
  int fullest = 0;
  std::vector<OperationUse> operations;
  Roof roof;
  std::vector<CollectiveUse> collectives;  // longest under way first
  std::vector<LinkClassUse> links;         // busiest first
  std::optional<Drawing> network;          // with its load; nothing where nobody has drawn it
  std::vector<Time> steps;                 // of all draws, one after the other
  std::vector<NearRun> near;               // by ascending ratio
};

// The passes of the first step of a job, one class of chips for each stage. REQUIRES: the timeline has
// intervals.
std::vector<StagePasses> stage_passes(const System& system, const Timeline& timeline);

// Activations that a stage holds along the step; nothing where it keeps none.
std::vector<HeldShare> held_along(const StagePasses& stage, const StepProgram& program);

// Of a job alone; `attention` as executed_operations has it. REQUIRES: the timeline has intervals.
StepDetail step_detail(const System& system, const LaidJob& job, const Timeline& timeline,
                       std::span<const double> attention);

}  // namespace podsim
