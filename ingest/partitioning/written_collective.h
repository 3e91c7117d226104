// A collective that a module has itself.
#pragma once

#include <vector>

#include "ingest/hlo/module.h"
#include "ingest/partitioning/partition_module.h"

namespace podsim::partitioning {

// All but the name of what it moves. REQUIRES: a collective of a module that was checked.
MadeCollective written_collective(const hlo::Module& module, const hlo::Instruction& collective,
                                  const std::vector<hlo::Shape>& operands);

}  // namespace podsim::partitioning
