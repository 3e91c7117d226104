// Times every piece of the model once and puts them together by schedule.
#include "planner/bounds/stem_bounds.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/check.h"
#include "planner/bounds/lone_chips.h"
#include "scheduler/lowering/lower.h"
#include "scheduler/lowering/lower_part.h"
#include "workload/partition/model_flops.h"
#include "workload/partition/recompute.h"
#include "workload/partition/stage_memory.h"
#include "workload/pipeline/stages.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

constexpr Pass kPasses[] = {Pass::kForward, Pass::kBackward, Pass::kInputGradient, Pass::kWeightGradient};

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

// Whether gradients of weights come apart from those of inputs in this schedule.
bool splits_backward(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::kZeroBubbleH1 || schedule == PipelineSchedule::kZeroBubbleV ||
         schedule == PipelineSchedule::kDualPipe;
}

PieceSeconds::OfPass& operator+=(PieceSeconds::OfPass& sum, const PieceSeconds::OfPass& more) {
  sum.chip += more.chip;
  sum.compute += more.compute;
  sum.host += more.host;
  sum.gathers += more.gathers;
  sum.gradients += more.gradients;
  return sum;
}

PieceSeconds::OfPass times(double n, PieceSeconds::OfPass each) {
  for (double* value : {&each.chip, &each.compute, &each.host, &each.gathers, &each.gradients}) *value *= n;
  return each;
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
    : spec_(spec), pieces_(partition_model(spec.job, context.cost)) {
  const Job& job = spec.job;
  skew_ = skew_of(job.stack, spec.cluster.fabric, job.mesh.devices());
  std::vector<Part> parts;
  for (const PartitionedPart& piece : pieces_.parts) parts.push_back(piece.part);
  const PassBlocks blocks(parts);
  std::vector<CollectiveCall> messages;
  InstructionWriter writer(messages, spec.cluster.chip, job.stack, true);
  PartLowering lowering(writer, job.stack, blocks, 0);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    PieceSeconds& piece = seconds_.emplace_back();
    for (const Pass pass : kPasses) {
      const Visit visit{static_cast<int>(p), pass, 0, 0, false};
      std::vector<Instruction> segment, gathers;
      writer.begin(gathers);
      lowering.launch_gathers(visit);
      writer.begin(segment);
      lowering.pass(visit, {0, 0, true});
      const std::vector<double> alone_s = alone_seconds(messages, context.alone);
      piece.of_pass[static_cast<std::size_t>(pass)] = {
          lone_seconds(segment, alone_s, skew_),
          of_kind(segment, Instruction::Kind::kCompute) * (1 + skew_),
          of_kind(segment, Instruction::Kind::kHost),
          on_stream(gathers, Stream::kParameter, alone_s),
          on_stream(segment, Stream::kGradient, alone_s),
      };
    }
    std::vector<Instruction> update;
    writer.begin(update);
    lowering.optimizer({&blocks.part(static_cast<int>(p))});
    piece.optimizer = of_kind(update, Instruction::Kind::kCompute) * (1 + skew_);
    piece.reduce = reduce_seconds(parts[p], context.alone);
  }
}

StemBounds::Shape StemBounds::shape_of(const JobLayout& layout) const {
  Shape shape;
  shape.pipeline = {layout.schedule, layout.pipeline, layout.chunks, microbatches(spec_.job)};
  const int pieces = piece_count(shape.pipeline);
  Job job = spec_.job;
  job.schedule = layout.schedule;
  job.chunks_per_stage = layout.chunks;
  if (job.recompute_layers == 0) {
    const ModelProgram& model = pieces_.model;
    shape.chunks =
        pipeline_chunks(model_pieces(model, pieces, layers_of_pieces(job, model, pieces)), shape.pipeline);
    return shape;
  }
  // Which layers recompute depends on the chunks; their kinds are those of the stem, perhaps in another
  // order.
  ModelProgram split = model_program(job);
  split_recomputing_layers(job, split);
  shape.chunks =
      pipeline_chunks(model_pieces(split, pieces, layers_of_pieces(job, split, pieces)), shape.pipeline);
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

PieceSeconds::OfPass StemBounds::of_chunk(const ChunkShape& chunk, Pass pass) const {
  PieceSeconds::OfPass sum;
  for (const PartRun& run : chunk.runs)
    sum += times(run.count,
                 seconds_[static_cast<std::size_t>(run.part)].of_pass[static_cast<std::size_t>(pass)]);
  return sum;
}

double StemBounds::stage_bound_s(const JobLayout& layout) const {
  const Shape shape = shape_of(layout);
  const PipelineShape& pipeline = shape.pipeline;
  const ScheduleTraits& traits = schedule_traits(pipeline.schedule);
  const bool split = splits_backward(pipeline.schedule), shifts = traits.shifts;
  const bool turns = pipeline.schedule == PipelineSchedule::kDualPipe;  // passes compute while others wait
  const double each = traits.layout == PieceLayout::kFromBothEnds ? 0.5 : 1;
  const auto on_chip = [&](const PieceSeconds::OfPass& pass) { return turns ? pass.compute : pass.chip; };
  const Stack& stack = spec_.job.stack;
  const double after = stack.fixed_step.in_seconds() * (1 + skew_);

  // What must be over before a place begins its first pass, and is left after its last.
  const auto stages = static_cast<std::size_t>(pipeline.stages);
  const auto before = [&](PipelinePlace place, Pass pass) {
    double seconds = 0;
    for (auto at = place_before(pipeline, place); at; at = place_before(pipeline, *at))
      seconds +=
          of_chunk(shape.chunks[static_cast<std::size_t>(at->stage)][static_cast<std::size_t>(at->chunk)],
                   pass)
              .chip;
    return seconds;
  };
  std::vector<double> ends(stages);  // [stage] optimizer and what follows
  for (std::size_t s = 0; s < stages; ++s) {
    double late_reductions = 0;
    for (const ChunkShape& chunk : shape.chunks[s])
      for (const PartRun& run : chunk.runs) {
        const PieceSeconds& piece = seconds_[static_cast<std::size_t>(run.part)];
        ends[s] += run.count * piece.optimizer;
        if (!stack.gradients_overlapped && !stack.sharded_state_overlapped.value_or(false))
          late_reductions += run.count * piece.reduce;
      }
    ends[s] += late_reductions + after;
  }
  double bound = 0;
  for (std::size_t s = 0; s < stages; ++s) {
    PieceSeconds::OfPass work;
    double ramp = std::numeric_limits<double>::infinity(), drain = ramp;
    for (std::size_t c = 0; c < shape.chunks[s].size(); ++c) {
      const ChunkShape& chunk = shape.chunks[s][c];
      work += of_chunk(chunk, Pass::kForward);
      if (split) {
        // Some passes of these schedules go back whole; apart they take no less than their computations.
        PieceSeconds::OfPass back = of_chunk(chunk, Pass::kInputGradient);
        back += of_chunk(chunk, Pass::kWeightGradient);
        const PieceSeconds::OfPass whole = of_chunk(chunk, Pass::kBackward);
        work += {std::min(back.chip, whole.chip), std::min(back.compute, whole.compute),
                 std::min(back.host, whole.host), std::min(back.gathers, whole.gathers),
                 std::min(back.gradients, whole.gradients)};
      } else {
        work += of_chunk(chunk, Pass::kBackward);
      }
      const PipelinePlace place{static_cast<int>(s), static_cast<int>(c)};
      ramp = std::min(ramp, shifts ? 0 : before(place, Pass::kForward));
      drain = std::min(drain, split || shifts ? 0 : before(place, Pass::kBackward));
    }
    const PieceSeconds::OfPass all = times(each * pipeline.microbatches, work);
    const double busy = std::max(on_chip(all), all.host);
    // Nobody waits for weight gradients that come apart, so nothing of other stages follows them.
    if (!split && !shifts) bound = std::max(bound, ramp + busy + drain + ends[0]);
    bound = std::max({bound, ramp + busy + ends[s], all.gathers + after, all.gradients + after});
  }
  return bound;
}

Bytes StemBounds::memory(const JobLayout& layout, bool ends_only) const {
  const Shape shape = shape_of(layout);
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
