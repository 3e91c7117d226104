// Where pieces lie and microbatches go, by the traits of the schedule.
#include "workload/pipeline/pipeline.h"

#include <algorithm>

#include "engine/check.h"
#include "workload/job/job.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

PieceLayout layout_of(const PipelineShape& shape) { return schedule_traits(shape.schedule).layout; }

PipelinePlace place_of(const PipelineShape& shape, int piece) {
  if (layout_of(shape) == PieceLayout::kDownAndUp && piece >= shape.stages)
    return {2 * shape.stages - 1 - piece, 1};
  return {piece % shape.stages, piece / shape.stages};
}

// So many pieces further on the way of a microbatch.
std::optional<PipelinePlace> place_apart(const PipelineShape& shape, PipelinePlace place, int pieces) {
  const int piece = piece_at(shape, place) + pieces;
  if (piece < 0 || piece == piece_count(shape)) return std::nullopt;
  if (layout_of(shape) != PieceLayout::kFromBothEnds) return place_of(shape, piece);
  return PipelinePlace{place.chunk == 0 ? piece : shape.stages - 1 - piece, place.chunk};
}

}  // namespace

PipelineShape pipeline_shape(const Job& job) {
  const int axis = job.pipeline_axis.empty() ? -1 : job.mesh.find(job.pipeline_axis);
  const int stages = axis < 0 ? 1 : job.mesh.axes[static_cast<std::size_t>(axis)].size;
  return {job.schedule, stages, job.chunks_per_stage, microbatches(job)};
}

int piece_count(const PipelineShape& shape) {
  return layout_of(shape) == PieceLayout::kFromBothEnds ? shape.stages : shape.stages * shape.chunks;
}

int piece_at(const PipelineShape& shape, PipelinePlace place) {
  if (place.chunk == 1 && layout_of(shape) == PieceLayout::kDownAndUp)
    return 2 * shape.stages - 1 - place.stage;
  if (place.chunk == 1 && layout_of(shape) == PieceLayout::kFromBothEnds)
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
  const ScheduleTraits& traits = schedule_traits(shape.schedule);
  if (traits.chunks && shape.chunks != *traits.chunks)
    return std::to_string(shape.chunks) + " chunks per stage, where this schedule has " +
           std::to_string(*traits.chunks);
  return traits.explain_invalid ? traits.explain_invalid(shape) : "";
}

std::vector<PipelineTask> pipeline_order(const PipelineShape& shape, int stage) {
  PODSIM_CHECK(explain_invalid(shape).empty(), explain_invalid(shape));
  return schedule_traits(shape.schedule).order(shape, stage);
}

std::vector<int> passes_of_chunks(const PipelineShape& shape, int stage) {
  const int ways = layout_of(shape) == PieceLayout::kFromBothEnds ? 2 : 1;
  std::vector<int> passes(static_cast<std::size_t>(shape.chunks), shape.microbatches / ways);
  if (schedule_traits(shape.schedule).shifts) {
    passes.front() += stage;
    passes.back() += shape.stages - 1 - stage;
  }
  return passes;
}

int documents_of(const PipelineShape& shape, int stage, const PipelineTask& task) {
  if (!schedule_traits(shape.schedule).shifts) return task.microbatch;
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
