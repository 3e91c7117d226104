// GPipe, 1F1B, interleaved 1F1B and the shifting buffer.
#include "scheduler/pipeline.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

// The k-th forward (or backward) pass of a stage: groups of `stages` microbatches visit the chunks in turn,
// backward in reverse order of chunks.
PipelineTask pass(bool forward, int k, int stages, int chunks) {
  int group = k / (stages * chunks), within = k % (stages * chunks);
  int chunk = within / stages;
  return {forward, group * stages + within % stages, forward ? chunk : chunks - 1 - chunk};
}

}  // namespace

std::vector<PipelineTask> pipeline_order(PipelineSchedule schedule, int stages, int stage, int chunks,
                                         int microbatches) {
  PODSIM_CHECK(chunks == 1 || microbatches % stages == 0, "interleaving needs whole groups of microbatches");
  const bool shifting = schedule == PipelineSchedule::kShifting;
  int passes = shifting ? microbatches + stages - 1 : microbatches * chunks;
  std::vector<PipelineTask> order;
  order.reserve(2 * passes);
  auto nth = [&](bool forward, int k) {
    return chunks == 1 ? PipelineTask{forward, k, 0} : pass(forward, k, stages, chunks);
  };
  if (schedule == PipelineSchedule::kGpipe || shifting) {
    for (int k = 0; k < passes; ++k) order.push_back(nth(true, k));
    for (int k = passes - 1; k >= 0; --k) order.push_back({false, order[k].microbatch, order[k].chunk});
    return order;
  }
  int warm_up = chunks == 1 ? stages - stage - 1 : 2 * (stages - stage - 1) + (chunks - 1) * stages;
  warm_up = std::min(warm_up, passes);
  for (int k = 0; k < warm_up; ++k) order.push_back(nth(true, k));
  for (int k = 0; k < passes - warm_up; ++k) {
    order.push_back(nth(true, warm_up + k));
    order.push_back(nth(false, k));
  }
  for (int k = passes - warm_up; k < passes; ++k) order.push_back(nth(false, k));
  return order;
}

}  // namespace podsim
