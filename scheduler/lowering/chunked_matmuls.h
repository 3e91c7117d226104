// Matmuls that run in chunks beside a collective of their input or output.
#pragma once

#include <optional>
#include <vector>

#include "workload/partition/program.h"

namespace podsim {

// Indices in a block.
struct ChunkedMatmul {
  std::size_t matmul;
  std::optional<std::size_t> gather;   // of an input, before it
  std::optional<std::size_t> scatter;  // or sum, of the output, right behind it
};

// The matmuls of a block that can be chunked: behind a gather of activations with at most memory-bound
// operations and collectives of weights in between, or right before a scatter or sum of activations. Not
// those beside a ring.
std::vector<ChunkedMatmul> chunked_matmuls(const Block& block);

// One of n chunks of the rows of the output, each of which reads all weights; of a weight gradient one of n
// chunks of tokens, each of which adds to the whole gradient in 16 bits.
ComputeOp chunk_of(const ComputeOp& matmul, int n);

}  // namespace podsim
