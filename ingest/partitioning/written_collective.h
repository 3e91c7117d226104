// A collective of a module, and those that it has itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/hlo/module.h"

namespace podsim::partitioning {

struct MadeCollective {
  std::string kind;    // "all-gather"
  std::string tensor;  // that it moves
  std::string axes;    // of the mesh: "x+y"; of one that the module has itself its groups, as written
  std::int64_t group = 1;
  std::int64_t operand_bytes = 0, result_bytes = 0;  // of one device and one execution
  double sent_bytes = 0;
  std::string why;
};

// All but the name of what it moves. REQUIRES: a collective of a module that was checked.
MadeCollective written_collective(const hlo::Module& module, const hlo::Instruction& collective,
                                  const std::vector<hlo::Shape>& operands);

}  // namespace podsim::partitioning
