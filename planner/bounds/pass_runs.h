// Which passes a stage goes through alone and which in turns with another, counted.
#pragma once

#include <optional>
#include <vector>

#include "workload/pipeline/pipeline.h"

namespace podsim {

struct PassOfChunk {
  Pass pass;
  int chunk;
  friend auto operator<=>(const PassOfChunk&, const PassOfChunk&) = default;
};

// A pass alone, or two that take turns, so many times in a step of the fewest microbatches that the schedule
// can have, and so many times more for each two further ones.
struct PassRun {
  PassOfChunk first;
  std::optional<PassOfChunk> second;
  int times = 0, more = 0;
};

// [stage]. `shape` = of a schedule whose passes take turns; its microbatches do not matter.
std::vector<std::vector<PassRun>> pass_runs(PipelineShape shape);

// Of a step of so many microbatches.
int times(const PassRun& run, const PipelineShape& shape);

}  // namespace podsim
