// Which layers each pipeline stage holds.
#pragma once

#include <vector>

#include "workload/program.h"

namespace podsim {

// [stage][chunk]. The embedding goes with the first chunk and the head with the last. Where the layers do not
// divide evenly but two more would, embedding and head count as a layer each; otherwise the earliest chunks
// get one layer more. REQUIRES: pipeline_fits(layers, stages * chunks).
std::vector<std::vector<ChunkShape>> pipeline_chunks(int layers, int stages, int chunks);

// Whether every chunk has something to do.
bool pipeline_fits(int layers, int pieces);

// Chunks' worth of activations that a stage holds at most: microbatches for one chunk per stage. Source:
// arXiv 2205.05198 section 4 (1F1B) and arXiv 2104.04473 section 2.2 (interleaved).
int chunks_in_flight(PipelineSchedule schedule, int stage, int stages, int chunks, int microbatches);

}  // namespace podsim
