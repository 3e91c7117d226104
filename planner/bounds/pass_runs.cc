// Counts the runs of short steps: what further microbatches add is the same for each two of them.
#include "planner/bounds/pass_runs.h"

#include <map>
#include <utility>

namespace podsim {
namespace {

using Run = std::pair<PassOfChunk, std::optional<PassOfChunk>>;

std::map<Run, int> runs_of(const PipelineShape& shape, int stage) {
  std::map<Run, int> runs;
  const std::vector<PipelineTask> order = pipeline_order(shape, stage);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Run run{{order[i].pass, order[i].chunk}, std::nullopt};
    if (order[i].with_next) {
      ++i;
      run.second = PassOfChunk{order[i].pass, order[i].chunk};
    }
    ++runs[run];
  }
  return runs;
}

int fewest_microbatches(const PipelineShape& shape) { return 2 * shape.stages; }

}  // namespace

std::vector<std::vector<PassRun>> pass_runs(PipelineShape shape) {
  std::vector<std::vector<PassRun>> of_stage;
  for (int stage = 0; stage < shape.stages; ++stage) {
    shape.microbatches = fewest_microbatches(shape);
    std::map<Run, int> fewest = runs_of(shape, stage);
    shape.microbatches += 2;
    std::vector<PassRun>& runs = of_stage.emplace_back();
    for (const auto& [run, count] : runs_of(shape, stage))
      runs.push_back({run.first, run.second, fewest[run], count - fewest[run]});
  }
  return of_stage;
}

int times(const PassRun& run, const PipelineShape& shape) {
  return run.times + (shape.microbatches - fewest_microbatches(shape)) / 2 * run.more;
}

}  // namespace podsim
