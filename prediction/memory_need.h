// What a job needs of the memory of its fullest chip, without a simulated step.
#pragma once

#include <string>
#include <vector>

#include "engine/units.h"

namespace podsim {

struct Spec;

struct MemoryNeed {
  std::string job;              // its name among several, or empty
  Bytes needed, capacity;       // of the chip that needs most; 0 needed = not known
  int stage = 0;                // of the pipeline, where that chip is
  double retry_free_share = 0;  // as Stack::retry_free_share

  bool fits() const { return needed <= capacity; }
};

// Of all jobs of a scenario, in their order. As in their reports; of several jobs but for what the
// partitioner decides by times on the fabric.
std::vector<MemoryNeed> memory_needs(const Spec& spec);

// A sentence for each job that does not fit, or hardly; the scenario is valid all the same.
std::vector<std::string> memory_warnings(const Spec& spec);

}  // namespace podsim
