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

constexpr Pass kPassesOfALayer[] = {Pass::kForward, Pass::kBackward, Pass::kInputGradient,
                                    Pass::kWeightGradient};

double on_stream(const std::vector<Instruction>& segment, Stream stream, const std::vector<double>& alone_s) {
  double sum = 0;
  for (const Instruction& each : segment)
    if (each.kind == Instruction::Kind::kLaunch && each.stream == stream)
      sum += alone_s[static_cast<std::size_t>(each.message)];
  return sum;
}

double of_kind(const std::vector<Instruction>& segment, Instruction::Kind kind) {
  Time sum;
  for (const Instruction& each : segment)
    if (each.kind == kind) sum += each.duration;
  return sum.in_seconds();
}

double reduce_seconds(const Part& part, const AloneTimes& alone) {
  double sum = 0;
  for (const ProgramOp& op : part.gradient_reduce)
    if (const auto* collective = std::get_if<CollectiveOp>(&op))
      sum += collective->bytes.value *
             alone.seconds_per_byte({{collective->axes, 0}, collective->kind, {}, collective->fanout});
  return sum;
}

// Each piece by the instructions of one chip.
StageTimes times_of(const Spec& spec, const MeshContext& context, const PartitionedModel& pieces) {
  const Job& job = spec.job;
  StageTimes times;
  times.skew = skew_of(job.stack, spec.cluster.fabric, job.mesh.devices());
  std::vector<Part> parts;
  for (const PartitionedPart& piece : pieces.parts) parts.push_back(piece.part);
  const PassBlocks blocks(parts);
  std::vector<CollectiveCall> messages;
  std::vector<double> alone_s;  // [message]
  InstructionWriter writer(messages, spec.cluster.chip, job.stack, true);
  PartLowering lowering(writer, job.stack, blocks, 0);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    PieceSeconds& piece = times.pieces.emplace_back();
    for (const Pass pass : kPassesOfALayer) {
      const Visit visit{static_cast<int>(p), pass, 0, 0, false};
      std::vector<Instruction> segment, gathers;
      writer.begin(gathers);
      lowering.launch_gathers(visit);
      writer.begin(segment);
      lowering.pass(visit, {0, 0, true});
      while (alone_s.size() < messages.size())
        alone_s.push_back(context.alone.seconds(messages[alone_s.size()]));
      piece.of_pass[static_cast<std::size_t>(pass)] = {
          lone_seconds(segment, alone_s, times.skew),
          of_kind(segment, Instruction::Kind::kCompute) * (1 + times.skew),
          of_kind(segment, Instruction::Kind::kHost),
          on_stream(gathers, Stream::kParameter, alone_s),
          on_stream(segment, Stream::kGradient, alone_s),
      };
    }
    std::vector<Instruction> update;
    writer.begin(update);
    lowering.optimizer({&blocks.part(static_cast<int>(p))});
    piece.optimizer = of_kind(update, Instruction::Kind::kCompute) * (1 + times.skew);
    piece.reduce = reduce_seconds(parts[p], context.alone);
  }
  return times;
}

}  // namespace

MeshContext::MeshContext(const Fabric& fabric, const Spec& spec)
    : laid{spec.job.mesh, place(fabric, spec.job.mesh, spec.placement), spec.job.stack.network_share},
      cost(fabric, laid.mesh, laid.placement,
           spec.cluster.chip.matmul.at(spec.job.precision.dtype).peak *
               spec.cluster.chip.matmul.at(spec.job.precision.dtype).sustained),
      alone(fabric, spec.cluster.fabric, laid,
            spec.job.pipeline_axis.empty() ? -1 : spec.job.mesh.find(spec.job.pipeline_axis)) {}

StemBounds::StemBounds(const Spec& spec, const MeshContext& context)
    : spec_(spec),
      pieces_(partition_model(spec.job, context.cost)),
      times_(times_of(spec, context, pieces_)) {}

PassesAlone passes_alone(const Spec& spec, const MeshContext& context) {
  PartitionedModel pieces = partition_model(spec.job, context.cost);
  StageTimes times = times_of(spec, context, pieces);
  for (PieceSeconds& piece : times.pieces) {
    piece.optimizer = piece.reduce = 0;
    for (PieceSeconds::OfPass& pass : piece.of_pass) pass.gathers = pass.gradients = 0;
  }
  return {std::move(times), std::move(pieces.parts)};
}

StageShape StemBounds::shape_of(const JobLayout& layout) const {
  if (spec_.job.recompute_layers == 0) return stage_shape(spec_.job, pieces_.model, layout);
  // Which layers recompute depends on the chunks; their kinds are those of the stem, perhaps in another
  // order.
  Job job = spec_.job;
  job.schedule = layout.schedule;
  job.chunks_per_stage = layout.chunks;
  ModelProgram split = model_program(job);
  split_recomputing_layers(job, split);
  StageShape shape = stage_shape(job, split, layout);
  for (std::vector<ChunkShape>& stage : shape.chunks)
    for (ChunkShape& chunk : stage)
      for (PartRun& run : chunk.runs)
        run.part = kind_named(split.parts[static_cast<std::size_t>(run.part)].name);
  return shape;
}

int StemBounds::kind_named(const std::string& name) const {
  const auto& parts = pieces_.model.parts;
  const auto found = std::ranges::find(parts, name, &ModelPart::name);
  PODSIM_CHECK(found != parts.end(),
               "chunks of a layout have no kinds of layers that those of its stem lack");
  return static_cast<int>(found - parts.begin());
}

double StemBounds::stage_bound_s(const JobLayout& layout) const {
  return podsim::stage_bound_s(spec_.job.stack, times_, shape_of(layout));
}

Bytes StemBounds::memory(const JobLayout& layout, bool ends_only) const {
  const StageShape shape = shape_of(layout);
  const int stages = shape.pipeline.stages;
  Bytes most;
  for (int stage = 0; stage < stages; ++stage) {
    if (ends_only && stage > 0 && stage + 1 < stages) continue;
    most = std::max(most, stage_memory(spec_.job, pieces_.parts,
                                       shape.chunks[static_cast<std::size_t>(stage)], shape.pipeline, stage)
                              .total());
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
  const StepProgram program = partition(spec.job, context.cost);
  const LoweredStep step = lower(program, spec, true);
  return relaxed_step_s(step, alone_seconds(step.messages, context.alone));
}

double arithmetic_bound_s(const Spec& spec) {
  double fastest = 0;
  for (const auto& [dtype, rate] : spec.cluster.chip.matmul) fastest = std::max(fastest, rate.peak.value);
  const double tokens = static_cast<double>(spec.job.global_batch) * spec.job.sequence;
  const double flops = model_flops_per_token(spec.job, model_program(spec.job), true).value * tokens;
  return flops / (fastest * spec.cluster.fabric.chips);
}

Time rounded_down(double bound_s) {
  constexpr double kOfRounding = 1e-6;
  return {static_cast<std::int64_t>(bound_s * (1 - kOfRounding) * 1e12)};
}

}  // namespace podsim
