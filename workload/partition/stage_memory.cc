// Bytes that one device of a pipeline stage holds at the peak of a step.
#include "workload/partition/stage_memory.h"

#include <algorithm>
#include <set>

#include "workload/job/job.h"
#include "workload/job/stack.h"

namespace podsim {
namespace {

// Of what one layer offloads: it is written out, or fetched, while its neighbour is computed.
constexpr double kOffloadBuffers = 2;

// Calls visit(number of the part, count) for every run of pieces on the stage, in forward order.
template <typename Visit>
void each_run(const std::vector<ChunkShape>& chunks, Visit&& visit) {
  for (const ChunkShape& chunk : chunks)
    for (const PartRun& run : chunk.runs) visit(static_cast<std::size_t>(run.part), run.count);
}

// Bytes that a microbatch leaves on the chip from forward to backward: [chunk], all and logits alone; and
// from the input gradient to the weight gradient, where these are apart.
struct Held {
  std::vector<double> all, logits, for_weights;
};
Held held_by_chunks(const std::vector<PartitionedPart>& parts, const std::vector<ChunkShape>& chunks) {
  Held held;
  for (const ChunkShape& chunk : chunks) {
    Bytes stored, logits, for_weights;
    each_run({chunk}, [&](std::size_t p, int count) {
      const PartFootprint& footprint = parts[p].footprint;
      stored += count * footprint.stored();
      logits += count * footprint.logits;
      for_weights += count * footprint.for_weights;
    });
    held.all.push_back((stored + logits).value);
    held.logits.push_back(logits.value);
    held.for_weights.push_back(for_weights.value);
  }
  return held;
}

// The piece in use and those after it whose weights are fetched ahead; or the weight in use and as many as
// are fetched ahead.
Bytes gathered_weights(const std::vector<PartitionedPart>& parts, const std::vector<ChunkShape>& chunks,
                       const Stack& stack) {
  const auto depth = static_cast<std::size_t>(std::max(stack.prefetch_forward, stack.prefetch_backward));
  std::vector<Bytes> gathered;  // [piece]
  each_run(chunks, [&](std::size_t p, int count) {
    const PartFootprint& footprint = parts[p].footprint;
    gathered.insert(gathered.end(), static_cast<std::size_t>(count),
                    stack.gathers_layers ? footprint.gathered : footprint.largest_gather);
  });
  Bytes most;
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    Bytes held;
    for (std::size_t k = i; k < std::min(gathered.size(), i + depth + 1); ++k) held += gathered[k];
    most = std::max(most, held);
  }
  return most;
}

// Groups that a chip of the stage is in: one for each set of axes, and the pipeline's.
double communicators(const std::vector<PartitionedPart>& parts, const std::vector<bool>& beside_owner,
                     const std::vector<ChunkShape>& chunks, const PipelineShape& pipeline) {
  std::set<AxisSet> groups;
  each_run(chunks, [&](std::size_t p, int) {
    const Part& part = parts[p].where(beside_owner[p]);
    for (const Block* block :
         {&part.forward, &part.backward, &part.gradient_reduce, &part.optimizer, &part.parameter_gather}) {
      for (const ProgramOp& op : *block) {
        if (const auto* collective = std::get_if<CollectiveOp>(&op)) groups.insert(collective->axes);
      }
    }
  });
  return static_cast<double>(groups.size()) + (pipeline.stages > 1 ? 1 : 0);
}

}  // namespace

MemoryUse stage_memory(const Job& job, const std::vector<PartitionedPart>& parts,
                       const std::vector<bool>& beside_owner, const std::vector<ChunkShape>& chunks,
                       const PipelineShape& pipeline, int stage) {
  double weights = 0, gradients = 0, state = 0, most_state = 0;
  MemoryUse use;
  Bytes in_backward;  // of the piece that is in backward, beyond what it keeps
  Bytes offloaded;
  each_run(chunks, [&](std::size_t p, int count) {
    const Part& part = parts[p].where(beside_owner[p]);
    weights += count * part.local_weights;
    gradients += count * part.local_gradients;
    state += count * part.local_state;
    most_state = std::max(most_state, part.local_state);
    in_backward = std::max(in_backward, parts[p].footprint.remade);
    offloaded = std::max(offloaded, parts[p].footprint.offloaded());
  });
  const Stack& stack = job.stack;
  use.weights = Bytes{weights};
  use.gradients =
      gradients * Bytes{stack.gradient_memory_bytes > 0 ? stack.gradient_memory_bytes : stack.gradient_bytes};
  use.optimizer =
      stack.optimizer_state_bytes * Bytes{job.offload_optimizer ? kOffloadBuffers * most_state : state};
  const std::vector<PipelineTask> order = pipeline_order(pipeline, stage);
  const Held held = held_by_chunks(parts, chunks);
  use.logits = Bytes{most_held(order, held.logits, std::vector<double>(held.logits.size(), 0))};
  use.activations = Bytes{most_held(order, held.all, held.for_weights)} - use.logits + in_backward +
                    kOffloadBuffers * offloaded;
  use.buffers = gathered_weights(parts, chunks, stack);
  use.buffers +=
      stack.workspace + communicators(parts, beside_owner, chunks, pipeline) * stack.communicator_buffers;
  use.fragmentation = stack.fragmentation * use.total();
  return use;
}

}  // namespace podsim
