// The data ranks of a simulated job: which chips are its workers, and which ranks behave alike.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/folding/system.h"

namespace podsim {

// Data ranks that behave alike, as one.
struct DataRank {
  int number = 0;                                  // of the first
  std::int64_t alike = 1;                          // data ranks that it stands for
  std::vector<int> first_device;                   // [stage] lowest device of the mesh in the worker
  std::vector<std::vector<std::int32_t>> classes;  // [stage] chip classes of the worker, ascending
};

// In the order of the coordinates along the axes that cut the batch. Ranks whose chips are of the same
// classes at the same places are one, unless `every_rank`. O(chips).
std::vector<DataRank> data_ranks(const System& system, const LaidJob& job, bool every_rank);

}  // namespace podsim
