// Times every piece of the model once and puts them together by schedule.
#include "planner/bounds/stem_bounds.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "planner/bounds/lone_chips.h"
#include "scheduler/lowering/lower.h"
#include "scheduler/lowering/lower_part.h"
#include "workload/partition/model_flops.h"
#include "workload/partition/recompute.h"
#include "workload/partition/stage_memory.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// All layers keep what they compute.
Spec keeping(Spec spec) {
  spec.job.recompute = Recompute::kNone;
  spec.job.recompute_names.clear();
  spec.job.offloaded.clear();
  return spec;
}

// By the instructions of the step, whichever pieces they come from.
double relaxed_seconds(const StepProgram& program, const Spec& spec, const MeshContext& context) {
  const LoweredStep step = lower(program, spec, true);
  return relaxed_step_s(step, alone_seconds(step.messages, context.alone));
}

}  // namespace

StemBounds::StemBounds(const Spec& spec, const MeshContext& context, const StemScope& scope)
    : spec_(spec),
      context_(context),
      by_policy_(context.pieces.of(spec, scope.passes_alone)),
      times_(by_policy_->times),
      parts_(by_policy_->parts) {
  if (!scope.keeping_too && spec.job.recompute_layers == 0 && spec.job.recompute_every == 1) return;
  const auto kept = context.pieces.of(keeping(spec), scope.passes_alone);
  times_.pieces.insert(times_.pieces.end(), kept->times.pieces.begin(), kept->times.pieces.end());
  parts_.insert(parts_.end(), kept->parts.begin(), kept->parts.end());
}

StageShape StemBounds::shape_of(const JobLayout& layout) const {
  return stage_shape(spec_.job, by_policy_->model, layout);
}

double StemBounds::stage_bound_s(const JobLayout& layout) const {
  return podsim::stage_bound_s(spec_.job.stack, times_, shape_of(layout));
}

double StemBounds::relaxed_bound_s(const JobLayout& layout) const {
  StageShape shape = shape_of(layout);
  StepProgram program;
  program.mesh = spec_.job.mesh;
  program.pipeline_axis = spec_.job.pipeline_axis.empty() ? -1 : program.mesh.find(spec_.job.pipeline_axis);
  program.stages = shape.pipeline.stages;
  program.schedule = shape.pipeline.schedule;
  program.microbatches = shape.pipeline.microbatches;
  for (int stage = 0; stage < program.stages; ++stage) program.memory.push_back(memory(shape, stage));
  const std::vector<bool> beside = beside_owners(shape.chunks, shape.pipeline, parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) program.parts.push_back(parts_[p].where(beside[p]));
  program.chunks = std::move(shape.chunks);
  return relaxed_seconds(program, spec_, context_);
}

MemoryUse StemBounds::memory(const StageShape& shape, int stage) const {
  return stage_memory(spec_.job, parts_, beside_owners(shape.chunks, shape.pipeline, parts_.size()),
                      shape.chunks[static_cast<std::size_t>(stage)], shape.pipeline, stage);
}

Bytes StemBounds::memory(const JobLayout& layout, bool ends_only) const {
  const StageShape shape = shape_of(layout);
  const int stages = shape.pipeline.stages;
  Bytes most;
  for (int stage = 0; stage < stages; ++stage) {
    if (ends_only && stage > 0 && stage + 1 < stages) continue;
    most = std::max(most, memory(shape, stage).total());
  }
  return most;
}

Bytes least_state(const Job& job, const JobLayout& stem, double parameters) {
  const Stack& stack = job.stack;
  const double ranks = static_cast<double>(stem.data) * stem.context;
  const bool fsdp = cuts_weights(stem.sharding);
  const double cut = static_cast<double>(stem.tensor) * stem.pipeline * stem.expert_axis() *
                     (fsdp ? static_cast<double>(stem.group) * stem.context : 1);
  const bool zero2 = stem.sharding == StateSharding::kZero2,
             zero1 = zero2 || stem.sharding == StateSharding::kZero1;
  double of_parameter = std::min(2.0, job.precision.weight_bytes);
  const double gradient =
      stack.gradient_memory_bytes > 0 ? stack.gradient_memory_bytes : stack.gradient_bytes;
  of_parameter += zero2 ? gradient / ranks : gradient;
  if (!job.offload_optimizer) of_parameter += stack.optimizer_state_bytes / (zero1 ? ranks : 1);
  return Bytes{parameters * of_parameter / cut};
}

double relaxed_bound_s(const Spec& spec, const MeshContext& context) {
  return relaxed_seconds(partition(spec.job, context.cost), spec, context);
}

double arithmetic_bound_s(const Spec& spec) {
  double fastest = 0;
  for (const auto& [dtype, rate] : spec.cluster.chip.matmul) fastest = std::max(fastest, rate.peak.value);
  const double tokens = static_cast<double>(spec.job.global_batch) * spec.job.sequence;
  const double flops = fewest_flops_per_token(spec.job, model_program(spec.job)).value * tokens;
  return flops / (fastest * spec.cluster.fabric.chips);
}

Time rounded_down(double bound_s) {
  constexpr double kOfRounding = 1e-6;
  return {static_cast<std::int64_t>(bound_s * (1 - kOfRounding) * 1e12)};
}

}  // namespace podsim
