// Which layers each pipeline stage holds.
#include "workload/stages.h"

#include <algorithm>
#include <cstdint>

namespace podsim {
namespace {

// Embedding and head take the place of a layer each.
bool ends_count(int layers, int pieces) {
  return layers % pieces != 0 && (layers + std::int64_t{2}) % pieces == 0;
}

}  // namespace

bool pipeline_fits(int layers, int pieces) { return layers >= pieces || ends_count(layers, pieces); }

std::vector<std::vector<ChunkShape>> pipeline_chunks(int layers, int stages, int chunks) {
  const int pieces = stages * chunks;
  const bool ends = ends_count(layers, pieces);
  const int even = ends ? layers / pieces + 1 : layers / pieces;
  const int extra = ends ? 0 : layers % pieces;
  std::vector<std::vector<ChunkShape>> result(static_cast<std::size_t>(stages));
  for (int piece = 0; piece < pieces; ++piece) {
    ChunkShape chunk{.layers = even, .embedding = piece == 0, .head = piece == pieces - 1};
    if (piece < extra) ++chunk.layers;
    if (ends) chunk.layers -= (chunk.embedding ? 1 : 0) + (chunk.head ? 1 : 0);
    result[static_cast<std::size_t>(piece % stages)].push_back(chunk);
  }
  return result;
}

int chunks_in_flight(PipelineSchedule schedule, int stage, int stages, int chunks, int microbatches) {
  const int all = microbatches * chunks;
  switch (schedule) {
    case PipelineSchedule::kGpipe:
      return all;
    case PipelineSchedule::kShifting:
      return all + stages - 1;
    case PipelineSchedule::k1F1B:
      return std::min(all, (stages - stage) * chunks);
    case PipelineSchedule::kInterleaved:
      if (stages == 1) return chunks;
      return std::min(all, 2 * (stages - stage - 1) + (chunks - 1) * stages + 1);
  }
  return all;
}

}  // namespace podsim
