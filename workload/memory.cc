// Bytes that one device of a pipeline stage holds at the peak of a step.
#include "workload/memory.h"

#include <algorithm>

#include "workload/stages.h"

namespace podsim {
namespace {

constexpr double kWeightBytes = 2;

struct StageParts {
  int layers = 0;
  int most_layers = 0;  // in one chunk
  bool embedding = false, head = false;
};

StageParts parts_of(const std::vector<ChunkShape>& chunks) {
  StageParts parts;
  for (const ChunkShape& chunk : chunks) {
    parts.layers += chunk.layers;
    parts.most_layers = std::max(parts.most_layers, chunk.layers);
    parts.embedding |= chunk.embedding;
    parts.head |= chunk.head;
  }
  return parts;
}

}  // namespace

MemoryUse stage_memory(const Job& job, const PartitionedModel& model, const std::vector<ChunkShape>& chunks,
                       int stage, int stages) {
  const StageParts parts = parts_of(chunks);
  const Part &embedding = model.embedding.part, &layer = model.layer.part, &head = model.head.part;
  const auto sum = [&](double of_embedding, double of_layer, double of_head) {
    return parts.layers * of_layer + (parts.embedding ? of_embedding : 0) + (parts.head ? of_head : 0);
  };
  const double weights = sum(embedding.local_parameters, layer.local_parameters, head.local_parameters);
  const double state = sum(embedding.local_state, layer.local_state, head.local_state);
  MemoryUse use;
  use.weights = Bytes{kWeightBytes * weights};
  use.gradients = Bytes{job.stack.gradient_bytes * weights};
  use.optimizer = Bytes{job.stack.optimizer_state_bytes * state};

  const PartFootprint& of_layer = model.layer.footprint;
  const int in_flight =
      chunks_in_flight(job.schedule, stage, stages, static_cast<int>(chunks.size()), job.microbatches());
  use.activations = (static_cast<double>(in_flight) * parts.most_layers) * of_layer.stored;
  if (job.recompute != Recompute::kNone && parts.layers > 0) {
    use.activations += of_layer.working - of_layer.stored;  // the layer that is in backward
  }
  if (parts.head) {
    use.activations += model.head.footprint.stored;
    use.logits = model.head.footprint.logits;
  }
  const Bytes layer_gathered = of_layer.gathered;
  Bytes other = parts.layers > 1 ? layer_gathered : Bytes{};
  if (parts.embedding) other = std::max(other, model.embedding.footprint.gathered);
  if (parts.head) other = std::max(other, model.head.footprint.gathered);
  use.buffers = (parts.layers > 0 ? layer_gathered : Bytes{}) + other;
  use.fragmentation = job.stack.fragmentation * use.total();
  return use;
}

}  // namespace podsim
