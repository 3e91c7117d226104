// Which pieces of the model each pipeline stage holds.
#include "workload/pipeline/stages.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace podsim {
namespace {

bool is_layer(const ModelProgram& model, std::size_t piece) {
  return model.parts[static_cast<std::size_t>(model.sequence[piece])].layer;
}

// The first and the last piece take the place of a layer each.
bool ends_count(const ModelProgram& model, int chunks) {
  const int layers = layer_count(model);
  return !is_layer(model, 0) && !is_layer(model, model.sequence.size() - 1) && layers % chunks != 0 &&
         (layers + std::int64_t{2}) % chunks == 0;
}

// Layers of each piece, dealt out evenly.
std::vector<int> even_layers(const ModelProgram& model, int chunks) {
  const bool ends = ends_count(model, chunks);
  const int layers = layer_count(model), shared_out = ends ? layers + 2 : layers;
  std::vector<int> result(static_cast<std::size_t>(chunks), shared_out / chunks);
  for (int chunk = 0; chunk < shared_out % chunks; ++chunk) ++result[static_cast<std::size_t>(chunk)];
  if (ends) {
    --result.front();
    --result.back();
  }
  return result;
}

void append(ChunkShape& chunk, int part) {
  if (chunk.runs.empty() || chunk.runs.back().part != part) chunk.runs.push_back({part, 0});
  ++chunk.runs.back().count;
}

}  // namespace

int layer_count(const ModelProgram& model) {
  int layers = 0;
  for (std::size_t piece = 0; piece < model.sequence.size(); ++piece) layers += is_layer(model, piece);
  return layers;
}

std::string explain_uncut(const ModelProgram& model, std::int64_t pieces, const std::vector<int>& layers) {
  const std::int64_t all = layer_count(model), given = static_cast<std::int64_t>(layers.size());
  if (layers.empty()) {
    const bool fits =
        pieces == 1 || all >= pieces || (pieces <= all + 2 && ends_count(model, static_cast<int>(pieces)));
    return fits ? ""
                : std::to_string(all) + " layers are too few for " + std::to_string(pieces) +
                      " pieces, one per chunk";
  }
  if (given != pieces)
    return std::to_string(given) + " numbers of layers for " + std::to_string(pieces) +
           " pieces of the model";
  std::int64_t sum = 0;
  for (std::size_t piece = 0; piece < layers.size(); ++piece) {
    const bool more = (piece == 0 && !is_layer(model, 0)) ||
                      (piece + 1 == layers.size() && !is_layer(model, model.sequence.size() - 1));
    if (layers[piece] < (more ? 0 : 1))
      return std::to_string(layers[piece]) + " layers in piece " +
             std::to_string(static_cast<std::int64_t>(piece)) + ", which has nothing else";
    sum += layers[piece];
  }
  return sum == all
             ? ""
             : std::to_string(sum) + " layers in all pieces, where the model has " + std::to_string(all);
}

std::vector<ChunkShape> model_pieces(const ModelProgram& model, int count, const std::vector<int>& chosen) {
  const std::vector<int> layers = chosen.empty() ? even_layers(model, count) : chosen;
  std::vector<ChunkShape> pieces;
  std::size_t part = 0;
  for (std::size_t piece = 0; piece < layers.size(); ++piece) {
    ChunkShape& shape = pieces.emplace_back();
    const bool first = piece == 0, last = piece + 1 == layers.size();
    if (first && !is_layer(model, 0)) append(shape, model.sequence[part++]);
    for (int left = layers[piece]; left > 0; ++part) {
      if (is_layer(model, part)) --left;
      append(shape, model.sequence[part]);
    }
    while (last && part < model.sequence.size()) append(shape, model.sequence[part++]);
  }
  return pieces;
}

std::vector<std::vector<ChunkShape>> pipeline_chunks(const std::vector<ChunkShape>& pieces,
                                                     const PipelineShape& pipeline) {
  std::vector<std::vector<ChunkShape>> result(static_cast<std::size_t>(pipeline.stages));
  for (int stage = 0; stage < pipeline.stages; ++stage) {
    for (int chunk = 0; chunk < pipeline.chunks; ++chunk)
      result[static_cast<std::size_t>(stage)].push_back(
          pieces[static_cast<std::size_t>(piece_at(pipeline, {stage, chunk}))]);
  }
  return result;
}

}  // namespace podsim
