// Partitions a model once for all layouts that differ in what its pieces do not see, and times its passes.
#include "planner/bounds/timed_pieces.h"

#include <algorithm>

#include "planner/bounds/alone_times.h"
#include "planner/bounds/lone_chips.h"
#include "scheduler/lowering/lower.h"
#include "scheduler/lowering/lower_part.h"

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
StageTimes times_of(const Spec& spec, const AloneTimes& alone, const std::vector<PartitionedPart>& pieces,
                    bool passes_alone) {
  const Job& job = spec.job;
  StageTimes times;
  times.skew = skew_of(job.stack, spec.cluster.fabric, job.mesh.devices());
  std::vector<Part> parts;
  for (const PartitionedPart& piece : pieces) parts.push_back(piece.part);
  const PassBlocks blocks(parts);
  std::vector<CollectiveCall> messages;
  std::vector<double> alone_s;  // [message]
  InstructionWriter writer(messages, spec.cluster.chip, job.stack, true);
  WrittenVisits written;
  PartLowering lowering(writer, job.stack, blocks, written, 0),
      beside(writer, job.stack, blocks, written, 0, Stream::kActivationBeside);
  const auto timed = [&](const std::vector<Instruction>& segment) {
    while (alone_s.size() < messages.size()) alone_s.push_back(alone.seconds(messages[alone_s.size()]));
    return lone_ops(segment, {}, alone_s, times.skew);
  };
  for (std::size_t p = 0; p < parts.size(); ++p) {
    PieceSeconds& piece = times.pieces.emplace_back();
    for (const Pass pass : kPassesOfALayer) {
      const Visit visit{static_cast<int>(p), pass, 0, 0, false};
      std::vector<Instruction> segment, gathers;
      writer.begin(gathers);
      lowering.launch_gathers(visit);
      writer.begin(segment);
      lowering.pass(visit, {0, 0, true});
      std::vector<LoneOp> ops = timed(segment);
      piece.of_pass[static_cast<std::size_t>(pass)] = {
          lone_seconds(ops),
          of_kind(segment, Instruction::Kind::kCompute) * (1 + times.skew),
          of_kind(segment, Instruction::Kind::kHost),
          on_stream(gathers, Stream::kParameter, alone_s),
          on_stream(segment, Stream::kGradient, alone_s),
      };
      if (pass == Pass::kForward) piece.forward = std::move(ops);
      if (pass != Pass::kBackward) continue;
      std::vector<Instruction> back;
      writer.begin(back);
      beside.pass(visit, {0, 0, true});
      piece.backward_beside = timed(back);
    }
    if (passes_alone) continue;
    std::vector<Instruction> update;
    writer.begin(update);
    lowering.optimizer({&blocks.part(static_cast<int>(p))});
    piece.optimizer = of_kind(update, Instruction::Kind::kCompute) * (1 + times.skew);
    piece.reduce = reduce_seconds(parts[p], alone);
  }
  return times;
}

}  // namespace

std::shared_ptr<const TimedPieces> PieceTables::of(const Spec& spec, bool passes_alone) const {
  constexpr std::size_t kMost = 12;
  Job job = spec.job;
  job.recompute_layers = 0;
  job.recompute_every = 1;
  job = job_of_pieces(job);
  const auto known = std::ranges::find_if(
      known_, [&](const Known& each) { return (passes_alone || !each.passes_alone) && each.job == job; });
  if (known != known_.end()) {
    known_.splice(known_.begin(), known_, known);
    return known->pieces;
  }
  PartitionedModel pieces = partitioned_parts(job, cost_);
  StageTimes times = times_of(spec, alone_, pieces.parts, passes_alone);
  if (known_.size() == kMost) known_.pop_back();
  known_.push_front({std::move(job), passes_alone,
                     std::make_shared<const TimedPieces>(
                         TimedPieces{std::move(pieces.model), std::move(pieces.parts), std::move(times)})});
  return known_.front().pieces;
}

}  // namespace podsim
