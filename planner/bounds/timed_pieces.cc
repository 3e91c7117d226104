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

LinkSeconds links_of(const std::vector<Instruction>& segment, bool activations,
                     const std::vector<LinkSeconds>& of_message) {
  LinkSeconds sum;
  for (const Instruction& each : segment) {
    if (each.kind != Instruction::Kind::kLaunch) continue;
    const bool of_weights = each.stream == Stream::kParameter || each.stream == Stream::kGradient;
    if (of_weights != activations) sum += of_message[static_cast<std::size_t>(each.message)];
  }
  return sum;
}

double of_kind(const std::vector<Instruction>& segment, Instruction::Kind kind) {
  Time sum;
  for (const Instruction& each : segment)
    if (each.kind == kind) sum += each.duration;
  return sum.in_seconds();
}

// Joined to other reductions it may take less than alone, but no less than its bytes do.
void time_reductions(const Part& part, const AloneTimes& alone, PieceSeconds& piece) {
  for (const ProgramOp& op : part.gradient_reduce)
    if (const auto* collective = std::get_if<CollectiveOp>(&op)) {
      const CollectiveCall call{
          {collective->axes, 0}, collective->kind, collective->bytes, collective->fanout};
      piece.reduce += call.bytes.value * alone.seconds_per_byte(call);
      piece.reduce_links += alone.link_seconds(call);
    }
}

// Each piece by the instructions of one chip, with tables that it shares left to their owner: some schedules
// put both on one stage.
StageTimes times_of(const Spec& spec, const AloneTimes& alone, const std::vector<PartitionedPart>& pieces,
                    bool passes_alone) {
  const Job& job = spec.job;
  StageTimes times;
  times.skew = skew_of(job.stack, spec.cluster.fabric, job.mesh.devices());
  std::vector<Part> parts;
  for (const PartitionedPart& piece : pieces) parts.push_back(piece.where(true));
  const PassBlocks blocks(parts);
  std::vector<CollectiveCall> messages;
  std::vector<double> alone_s;     // [message]
  std::vector<LinkSeconds> links;  // [message]
  InstructionWriter writer(messages, spec.cluster.chip, job.stack, true);
  WrittenVisits written;
  PartLowering lowering(writer, job.stack, blocks, written, 0),
      beside(writer, job.stack, blocks, written, 0, Stream::kActivationBeside);
  const auto timed = [&](const std::vector<Instruction>& segment) {
    for (std::size_t m = alone_s.size(); m < messages.size(); ++m) {
      alone_s.push_back(alone.seconds(messages[m]));
      links.push_back(alone.link_seconds(messages[m]));
    }
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
      PieceSeconds::OfPass& seconds = piece.of_pass[static_cast<std::size_t>(pass)];
      seconds = {.chip = lone_seconds(ops),
                 .compute = of_kind(segment, Instruction::Kind::kCompute) * (1 + times.skew),
                 .blocked = blocked_seconds(ops),
                 .host = of_kind(segment, Instruction::Kind::kHost),
                 .gathers = on_stream(gathers, Stream::kParameter, alone_s),
                 .gradients = on_stream(segment, Stream::kGradient, alone_s),
                 .activations = links_of(segment, true, links),
                 .weights = links_of(gathers, false, links)};
      seconds.weights += links_of(segment, false, links);
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
    time_reductions(parts[p], alone, piece);
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
