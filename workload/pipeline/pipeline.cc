// Places of all schedules; the orders of GPipe, 1F1B, interleaved 1F1B and the shifting buffer.
#include "workload/pipeline/pipeline.h"

#include <algorithm>

#include "engine/check.h"
#include "workload/pipeline/pipeline_orders.h"
#include "workload/sharding/sharding.h"

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

void append_backward_in_reverse(std::vector<PipelineTask>& order) {
  for (std::size_t k = order.size(); k-- > 0;)
    order.push_back({Pass::kBackward, order[k].microbatch, order[k].chunk});
}

std::vector<PipelineTask> gpipe_order(const PipelineShape& shape) {
  std::vector<PipelineTask> order;
  for (int k = 0; k < shape.microbatches; ++k) order.push_back({Pass::kForward, k, 0});
  append_backward_in_reverse(order);
  return order;
}

// In iteration t the stage has what the first stage began with `stage` iterations earlier: all microbatches
// of chunk 0, then all of chunk 1, and so on; padding before and after, which counts as the pass next to it.
int shifting_pass(const PipelineShape& shape, int stage, int iteration) {
  return std::clamp(iteration - stage, 0, shape.microbatches * shape.chunks - 1);
}

std::vector<PipelineTask> shifting_order(const PipelineShape& shape, int stage) {
  std::vector<PipelineTask> order;
  for (int t = 0; t < shape.microbatches * shape.chunks + shape.stages - 1; ++t)
    order.push_back({Pass::kForward, t, shifting_pass(shape, stage, t) / shape.microbatches});
  append_backward_in_reverse(order);
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

PipelinePlace place_of(const PipelineShape& shape, int piece) {
  if (shape.schedule == PipelineSchedule::kZeroBubbleV && piece >= shape.stages)
    return {2 * shape.stages - 1 - piece, 1};
  return {piece % shape.stages, piece / shape.stages};
}

// So many pieces further on the way of a microbatch.
std::optional<PipelinePlace> place_apart(const PipelineShape& shape, PipelinePlace place, int pieces) {
  const int piece = piece_at(shape, place) + pieces;
  if (piece < 0 || piece == piece_count(shape)) return std::nullopt;
  if (shape.schedule != PipelineSchedule::kDualPipe) return place_of(shape, piece);
  return PipelinePlace{place.chunk == 0 ? piece : shape.stages - 1 - piece, place.chunk};
}

std::string number(int value) { return std::to_string(value); }

}  // namespace

PipelineShape pipeline_shape(const Job& job) {
  const int axis = job.pipeline_axis.empty() ? -1 : job.mesh.find(job.pipeline_axis);
  const int stages = axis < 0 ? 1 : job.mesh.axes[static_cast<std::size_t>(axis)].size;
  return {job.schedule, stages, job.chunks_per_stage, microbatches(job)};
}

std::optional<int> fixed_chunks(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::kInterleaved:
    case PipelineSchedule::kShifting:
      return std::nullopt;
    case PipelineSchedule::kZeroBubbleV:
    case PipelineSchedule::kDualPipe:
      return 2;
    case PipelineSchedule::kGpipe:
    case PipelineSchedule::k1F1B:
    case PipelineSchedule::kZeroBubbleH1:
      return 1;
  }
  return std::nullopt;
}

int piece_count(const PipelineShape& shape) {
  return shape.schedule == PipelineSchedule::kDualPipe ? shape.stages : shape.stages * shape.chunks;
}

int piece_at(const PipelineShape& shape, PipelinePlace place) {
  if (place.chunk == 1 && shape.schedule == PipelineSchedule::kZeroBubbleV)
    return 2 * shape.stages - 1 - place.stage;
  if (place.chunk == 1 && shape.schedule == PipelineSchedule::kDualPipe)
    return shape.stages - 1 - place.stage;
  return place.chunk * shape.stages + place.stage;
}

std::optional<PipelinePlace> place_before(const PipelineShape& shape, PipelinePlace place) {
  return place_apart(shape, place, -1);
}

std::optional<PipelinePlace> place_after(const PipelineShape& shape, PipelinePlace place) {
  return place_apart(shape, place, +1);
}

std::string explain_invalid(const PipelineShape& shape) {
  const std::string microbatches = number(shape.microbatches) + " microbatches ",
                    stages = number(shape.stages) + " stages";
  const auto fixed = fixed_chunks(shape.schedule);
  if (fixed && shape.chunks != *fixed)
    return number(shape.chunks) + " chunks per stage, where this schedule has " + number(*fixed);
  switch (shape.schedule) {
    case PipelineSchedule::kInterleaved:
      if (shape.chunks > 1 && shape.microbatches % shape.stages != 0)
        return microbatches + "are not divisible by " + stages + ", as the interleaved schedule needs";
      break;
    case PipelineSchedule::kShifting:
      if (shape.chunks > 1 && shape.microbatches < shape.stages)
        return microbatches + "are fewer than the " + stages + " through which they go round";
      break;
    case PipelineSchedule::kDualPipe:
      if (shape.stages % 2 != 0 || shape.microbatches % 2 != 0)
        return microbatches + "on " + stages + ": DualPipe needs an even number of both";
      [[fallthrough]];
    case PipelineSchedule::kZeroBubbleV:
      if (shape.microbatches < 2 * shape.stages)
        return microbatches + "are fewer than twice the " + stages + ", as this schedule needs";
      break;
    default:
      break;
  }
  return "";
}

std::vector<PipelineTask> pipeline_order(const PipelineShape& shape, int stage) {
  PODSIM_CHECK(explain_invalid(shape).empty(), explain_invalid(shape));
  switch (shape.schedule) {
    case PipelineSchedule::kGpipe:
      return gpipe_order(shape);
    case PipelineSchedule::kShifting:
      return shifting_order(shape, stage);
    case PipelineSchedule::k1F1B:
    case PipelineSchedule::kInterleaved:
      return one_forward_one_backward(shape, stage);
    case PipelineSchedule::kZeroBubbleH1:
      return zero_bubble_h1_order(shape, stage);
    case PipelineSchedule::kZeroBubbleV:
      return zero_bubble_v_order(shape, stage);
    case PipelineSchedule::kDualPipe:
      return dualpipe_order(shape, stage);
  }
  return {};
}

int documents_of(const PipelineShape& shape, int stage, const PipelineTask& task) {
  if (shape.schedule != PipelineSchedule::kShifting) return task.microbatch;
  return shifting_pass(shape, stage, task.microbatch) % shape.microbatches;
}

double most_held(const std::vector<PipelineTask>& order, const std::vector<double>& held) {
  return most_held(order, held, held);
}

double most_held(const std::vector<PipelineTask>& order, const std::vector<double>& held,
                 const std::vector<double>& for_weights) {
  double now = 0, most = 0;
  for (const PipelineTask& task : order) {
    const auto chunk = static_cast<std::size_t>(task.chunk);
    switch (task.pass) {
      case Pass::kForward:
        now += held[chunk];
        break;
      case Pass::kBackward:
        now -= held[chunk];
        break;
      case Pass::kInputGradient:
        now += for_weights[chunk] - held[chunk];
        break;
      case Pass::kWeightGradient:
        now -= for_weights[chunk];
        break;
    }
    most = std::max(most, now);
  }
  return most;
}

}  // namespace podsim
