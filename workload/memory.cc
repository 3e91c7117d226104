// Bytes that one device of a pipeline stage holds at the peak of a step.
#include "workload/memory.h"

#include <algorithm>

namespace podsim {
namespace {

constexpr double kWeightBytes = 2;
// Of what one layer offloads: it is written out, or fetched, while its neighbour is computed.
constexpr double kOffloadBuffers = 2;

// Calls visit(part, count) for every run of pieces on the stage, in forward order.
template <typename Visit>
void each_run(const std::vector<PartitionedPart>& parts, const std::vector<ChunkShape>& chunks,
              Visit&& visit) {
  for (const ChunkShape& chunk : chunks) {
    for (const PartRun& run : chunk.runs) visit(parts[static_cast<std::size_t>(run.part)], run.count);
  }
}

// [chunk] bytes that its layers keep of one microbatch.
std::vector<double> stored_by_layers(const std::vector<PartitionedPart>& parts,
                                     const std::vector<ChunkShape>& chunks) {
  std::vector<double> stored;
  for (const ChunkShape& chunk : chunks) {
    stored.push_back(0);
    each_run(parts, {chunk}, [&](const PartitionedPart& piece, int count) {
      if (piece.part.layer) stored.back() += count * piece.footprint.stored.value;
    });
  }
  return stored;
}

// The piece in use and those after it whose weights are fetched ahead.
Bytes gathered_weights(const std::vector<PartitionedPart>& parts, const std::vector<ChunkShape>& chunks,
                       std::size_t depth) {
  std::vector<Bytes> gathered;  // [piece]
  each_run(parts, chunks, [&](const PartitionedPart& piece, int count) {
    gathered.insert(gathered.end(), static_cast<std::size_t>(count), piece.footprint.gathered);
  });
  Bytes most;
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    Bytes held;
    for (std::size_t k = i; k < std::min(gathered.size(), i + depth + 1); ++k) held += gathered[k];
    most = std::max(most, held);
  }
  return most;
}

}  // namespace

MemoryUse stage_memory(const Job& job, const std::vector<PartitionedPart>& parts,
                       const std::vector<ChunkShape>& chunks, const PipelineShape& pipeline, int stage) {
  double weights = 0, gradients = 0, state = 0;
  MemoryUse use;
  Bytes in_backward;  // of the piece that is in backward, beyond what it keeps
  Bytes offloaded;
  each_run(parts, chunks, [&](const PartitionedPart& piece, int count) {
    weights += count * piece.part.local_parameters;
    gradients += count * piece.part.local_gradients;
    state += count * piece.part.local_state;
    in_backward = std::max(in_backward, piece.footprint.remade);
    offloaded = std::max(offloaded, piece.footprint.offloaded);
    if (!piece.part.layer) use.activations += count * piece.footprint.stored;
    use.logits += count * piece.footprint.logits;
  });
  use.weights = Bytes{kWeightBytes * weights};
  use.gradients = Bytes{gradients};
  use.optimizer = Bytes{job.stack.optimizer_state_bytes * state};
  use.activations += Bytes{most_held(pipeline_order(pipeline, stage), stored_by_layers(parts, chunks))};
  use.activations += in_backward + kOffloadBuffers * offloaded;
  use.buffers = gathered_weights(
      parts, chunks,
      static_cast<std::size_t>(std::max(job.stack.prefetch_forward, job.stack.prefetch_backward)));
  use.fragmentation = job.stack.fragmentation * use.total();
  return use;
}

}  // namespace podsim
