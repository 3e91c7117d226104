// Which pieces of the model each pipeline stage holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/model/model_program.h"
#include "workload/pipeline/chunk_shape.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

struct Job;

// Pieces that are layers: what stages are balanced by.
int layer_count(const ModelProgram& model);

// The model cut into so many pieces, in order. Layers are dealt out; what is no layer rides with the layer
// after it, and behind the last layer with that. Where the layers do not divide evenly but two more would,
// the first and the last piece (embedding and head) count as a layer each; otherwise the earliest chunks get
// one layer more. `layers`, where not empty, says how many each piece has instead. REQUIRES:
// explain_uncut(model, pieces, layers) is empty.
std::vector<ChunkShape> model_pieces(const ModelProgram& model, int pieces, const std::vector<int>& layers);

// [piece] the layers that the job gives it; empty = dealt out evenly. A stack that balances stages gives the
// last piece as many fewer as the weights of its head are those of, and the others what is left, evenly.
std::vector<int> layers_of_pieces(const Job& job, const ModelProgram& model, int pieces);

// Why the cut of a stack that balances stages leaves some without work, or empty. Frameworks fill stage after
// stage up to equal shares of the weight, so that a head of the weight of h layers takes the places of h: l
// layers on p stages reach the ceil(l p / (l + h))-th, and two more have the head and the loss. Interleaved
// pieces are dealt out by count.
std::string explain_idle_stages(const Job& job, const ModelProgram& model, const PipelineShape& shape);

// [stage][chunk] the pieces where they lie.
std::vector<std::vector<ChunkShape>> pipeline_chunks(const std::vector<ChunkShape>& pieces,
                                                     const PipelineShape& shape);

// Why the model cannot be cut into so many pieces ("80 layers are too few for 90 pieces"), or empty. Every
// piece has something to do: a layer, or what stands before the first or behind the last.
std::string explain_uncut(const ModelProgram& model, std::int64_t pieces, const std::vector<int>& layers);

}  // namespace podsim
