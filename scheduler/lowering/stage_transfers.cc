// Sends and receives of a stage, by direction of the pass and by neighbour.
#include "scheduler/lowering/stage_transfers.h"

#include <cstdlib>

#include "engine/check.h"
#include "workload/job/stack.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

bool forward(Pass pass) { return pass == Pass::kForward; }

}  // namespace

std::optional<PipelinePlace> StageTransfers::elsewhere(Pass pass, std::optional<PipelinePlace> other) const {
  if (schedule_traits(program_.schedule).shifts || pass == Pass::kWeightGradient) return std::nullopt;
  return other && other->stage != stage_ ? other : std::nullopt;
}

std::optional<PipelinePlace> StageTransfers::source_of(Pass pass, int chunk) const {
  const PipelinePlace here{stage_, chunk};
  return elsewhere(pass, forward(pass) ? place_before(pipeline_, here) : place_after(pipeline_, here));
}

std::optional<PipelinePlace> StageTransfers::destination_of(Pass pass, int chunk) const {
  const PipelinePlace here{stage_, chunk};
  return elsewhere(pass, forward(pass) ? place_after(pipeline_, here) : place_before(pipeline_, here));
}

// Between the last stage and the first the way is round the end.
StageTransfers::Way StageTransfers::way(Pass pass, int from, int to) const {
  PODSIM_CHECK(from != to, "a stage sends itself nothing");
  const bool round = std::abs(to - from) > 1, next = (to > from) != round;
  if (forward(pass)) return next ? Way{Stream::kForwardNext, +1} : Way{Stream::kForwardPrevious, -1};
  return next ? Way{Stream::kBackwardNext, +1} : Way{Stream::kBackwardPrevious, -1};
}

const Part& StageTransfers::last_part(PipelinePlace place) const {
  PODSIM_CHECK(place.stage >= 0 && place.stage < program_.stages, "a place lies in the pipeline");
  return program_.parts[program_.chunks[place.stage][place.chunk].runs.back().part];
}

// Where copies of the activation send a share each, those of the receiving stage gather the whole.
AxisSet StageTransfers::shared_axes(const Part& from) const {
  return stack_.scatter_gather_sends ? from.output_copies : 0;
}

void StageTransfers::receive(Pass pass, int chunk) {
  const auto source = source_of(pass, chunk);
  if (!source) return;
  const bool in_two = stack_.send_exposed > 0 && stack_.send_exposed < 1;
  for (int part = 0; part < (in_two ? 2 : 1); ++part)
    writer_.receive(way(pass, source->stage, stage_).stream);
  writer_.host_collectives(1);
  const Part& from = last_part(forward(pass) ? *source : PipelinePlace{stage_, chunk});
  if (shared_axes(from) == 0) return;
  writer_.launch(Stream::kActivation, {shared_axes(from), 0}, CollectiveKind::kAllGather, from.output,
                 Bucket::kCommunication);
  writer_.wait(Stream::kActivation, 0);
}

void StageTransfers::send(Pass pass, int chunk) {
  if (schedule_traits(program_.schedule).shifts) return shift();
  const auto destination = destination_of(pass, chunk);
  if (!destination) return;
  const Way out = way(pass, stage_, destination->stage);
  const Part& from = last_part(forward(pass) ? PipelinePlace{stage_, chunk} : *destination);
  const Bytes activation = from.output / shard_count(program_.mesh, shared_axes(from));
  const Scope scope{AxisSet{1} << program_.pipeline_axis, out.neighbour};
  const double exposed = stack_.send_exposed;
  writer_.host_collectives(1);
  if (exposed > 0) {
    writer_.launch(out.stream, scope, CollectiveKind::kSendReceive, exposed * activation, Bucket::kBubble);
    writer_.wait(out.stream, 0);
  }
  if (exposed < 1)
    writer_.launch(out.stream, scope, CollectiveKind::kSendReceive, (1 - exposed) * activation,
                   Bucket::kBubble);
}

void StageTransfers::shift() {
  if (program_.stages == 1) return;
  writer_.launch(Stream::kActivation, {AxisSet{1} << program_.pipeline_axis, 0}, CollectiveKind::kPermute,
                 last_part({0, 0}).output, Bucket::kCommunication);
  writer_.wait(Stream::kActivation, 0);
}

}  // namespace podsim
