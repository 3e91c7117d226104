// GPipe, 1F1B, interleaved 1F1B and the shifting buffer.
#include "workload/pipeline.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

// The k-th forward (or backward) pass of a stage: groups of `stages` microbatches visit the chunks in turn,
// backward in reverse order of chunks.
PipelineTask nth(Pass pass, int k, const PipelineShape& shape) {
  if (shape.chunks == 1) return {pass, k, 0};
  const int group = k / (shape.stages * shape.chunks), within = k % (shape.stages * shape.chunks);
  const int chunk = within / shape.stages;
  return {pass, group * shape.stages + within % shape.stages,
          pass == Pass::kForward ? chunk : shape.chunks - 1 - chunk};
}

std::vector<PipelineTask> all_forward_then_all_backward(const PipelineShape& shape, int passes) {
  std::vector<PipelineTask> order;
  for (int k = 0; k < passes; ++k) order.push_back(nth(Pass::kForward, k, shape));
  for (int k = passes - 1; k >= 0; --k)
    order.push_back({Pass::kBackward, order[static_cast<std::size_t>(k)].microbatch,
                     order[static_cast<std::size_t>(k)].chunk});
  return order;
}

// Warm-up forwards, then one forward and one backward in turn, then the backwards that are left.
std::vector<PipelineTask> one_forward_one_backward(const PipelineShape& shape, int stage) {
  const int passes = shape.microbatches * shape.chunks, behind = shape.stages - stage - 1;
  const int warm_up =
      std::min(passes, shape.chunks == 1 ? behind : 2 * behind + (shape.chunks - 1) * shape.stages);
  std::vector<PipelineTask> order;
  for (int k = 0; k < warm_up; ++k) order.push_back(nth(Pass::kForward, k, shape));
  for (int k = 0; k < passes; ++k) {
    if (warm_up + k < passes) order.push_back(nth(Pass::kForward, warm_up + k, shape));
    order.push_back(nth(Pass::kBackward, k, shape));
  }
  return order;
}

}  // namespace

int piece_count(const PipelineShape& shape) { return shape.stages * shape.chunks; }

int piece_at(const PipelineShape& shape, PipelinePlace place) {
  return place.chunk * shape.stages + place.stage;
}

std::optional<PipelinePlace> place_before(const PipelineShape& shape, PipelinePlace place) {
  const int piece = piece_at(shape, place) - 1;
  if (piece < 0) return std::nullopt;
  return PipelinePlace{piece % shape.stages, piece / shape.stages};
}

std::optional<PipelinePlace> place_after(const PipelineShape& shape, PipelinePlace place) {
  const int piece = piece_at(shape, place) + 1;
  if (piece == piece_count(shape)) return std::nullopt;
  return PipelinePlace{piece % shape.stages, piece / shape.stages};
}

std::vector<PipelineTask> pipeline_order(const PipelineShape& shape, int stage) {
  PODSIM_CHECK(shape.chunks == 1 || shape.microbatches % shape.stages == 0,
               "interleaving needs whole groups of microbatches");
  switch (shape.schedule) {
    case PipelineSchedule::kGpipe:
      return all_forward_then_all_backward(shape, shape.microbatches * shape.chunks);
    case PipelineSchedule::kShifting:
      return all_forward_then_all_backward(shape, shape.microbatches + shape.stages - 1);
    case PipelineSchedule::k1F1B:
    case PipelineSchedule::kInterleaved:
      return one_forward_one_backward(shape, stage);
  }
  return {};
}

double most_held(const std::vector<PipelineTask>& order, const std::vector<double>& held) {
  double now = 0, most = 0;
  for (const PipelineTask& task : order) {
    const double of_chunk = held[static_cast<std::size_t>(task.chunk)];
    if (task.pass == Pass::kForward) now += of_chunk;
    most = std::max(most, now);
    if (task.pass == Pass::kBackward || task.pass == Pass::kWeightGradient) now -= of_chunk;
  }
  return most;
}

}  // namespace podsim
