// Which pieces of the model one chunk of a pipeline stage holds.
#pragma once

#include <vector>

namespace podsim {

// Consecutive pieces of one kind.
struct PartRun {
  int part = 0;  // index in StepProgram::parts
  int count = 0;
  friend bool operator==(const PartRun&, const PartRun&) = default;
};

// The pieces of one chunk of one stage, in forward order. Chunk c of stage s is the (c * stages + s)-th piece
// of the model.
struct ChunkShape {
  std::vector<PartRun> runs;
};

}  // namespace podsim
