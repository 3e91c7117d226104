// The step that stands for those of a recorded run.
#pragma once

#include <optional>
#include <vector>

#include "ingest/imported/imported.h"
#include "ingest/kineto/ranks.h"

namespace podsim::kineto {

// Of steps that begin one after the other on a rank, the time from one to the next on its device, and what
// the device did of each; of all ranks and steps the middle one of each time. Nothing where no step follows
// another.
std::optional<RecordedStep> recorded_step(const std::vector<RankProfile>& ranks);

}  // namespace podsim::kineto
