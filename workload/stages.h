// Which pieces of the model each pipeline stage holds.
#pragma once

#include <vector>

#include "workload/model_program.h"
#include "workload/pipeline.h"
#include "workload/program.h"

namespace podsim {

// Pieces that are layers: what stages are balanced by.
int layer_count(const ModelProgram& model);

// [stage][chunk]. Layers are dealt out; what is no layer rides with the layer after it, and behind the last
// layer with that. Where the layers do not divide evenly but two more would, the first and the last piece
// (embedding and head) count as a layer each; otherwise the earliest chunks get one layer more.
// REQUIRES: pipeline_fits(model, piece_count(shape)).
std::vector<std::vector<ChunkShape>> pipeline_chunks(const ModelProgram& model, const PipelineShape& shape);

// Whether every chunk has something to do.
bool pipeline_fits(const ModelProgram& model, int chunks);

}  // namespace podsim
