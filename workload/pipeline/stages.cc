// Which pieces of the model each pipeline stage holds.
#include "workload/pipeline/stages.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/check.h"
#include "workload/job/job.h"

namespace podsim {
namespace {

constexpr int kStagesBehindLayers = 2;  // of the head, and of the loss
constexpr double kStageRounding = 1e-9;

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

// Elements of the weights that matmuls read.
double matmul_weights(const ModelPart& part) {
  double sum = 0;
  for (const Operation& op : part.graph.operations) {
    if (op.kind != OperationKind::kEinsum) continue;
    for (const Operand& input : op.inputs) {
      const Tensor& tensor = part.graph.tensors[static_cast<std::size_t>(input.tensor)];
      if (is_parameter(tensor)) sum += elements(tensor);
    }
  }
  return sum;
}

// What stands behind the last layer, in mean layers.
double head_layers(const ModelProgram& model) {
  double layers = 0, head = 0;
  for (std::size_t piece = 0; piece < model.sequence.size(); ++piece) {
    const double weights = matmul_weights(model.parts[static_cast<std::size_t>(model.sequence[piece])]);
    if (is_layer(model, piece)) {
      layers += weights;
      head = 0;
    } else {
      head += weights;
    }
  }
  return layers > 0 ? head * layer_count(model) / layers : 0;
}

// The last piece takes as many layers as make the longest piece shortest; of those the most.
std::vector<int> balanced_layers(const ModelProgram& model, int pieces) {
  const int layers = layer_count(model), others = pieces - 1;
  PODSIM_CHECK(others > 0 && layers >= pieces, "every piece but the last gets a layer");
  const double head = head_layers(model);
  const auto longest = [&](int last) {
    const int most = (layers - last + others - 1) / others;
    return std::max<double>(most, last + head);
  };
  int last = 0;
  for (int more = 0; more <= layers - others; ++more)
    if (longest(more) <= longest(last)) last = more;
  std::vector<int> result(static_cast<std::size_t>(others), (layers - last) / others);
  for (int piece = 0; piece < (layers - last) % others; ++piece) ++result[static_cast<std::size_t>(piece)];
  result.push_back(last);
  return result;
}

// Whether the stack cuts the model by weight, rather than the job or the number of layers.
bool is_balanced(const Job& job, const ModelProgram& model, int pieces) {
  return job.stack.balances_stages && job.layers_per_chunk.empty() && pieces > 1 &&
         layer_count(model) >= pieces && !is_layer(model, model.sequence.size() - 1);
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

std::vector<int> layers_of_pieces(const Job& job, const ModelProgram& model, int pieces) {
  return is_balanced(job, model, pieces) ? balanced_layers(model, pieces) : job.layers_per_chunk;
}

std::string explain_idle_stages(const Job& job, const ModelProgram& model, const PipelineShape& shape) {
  if (!is_balanced(job, model, shape.stages) || shape.chunks > 1) return "";
  const double layers = layer_count(model), head = head_layers(model);
  const int reached = static_cast<int>(std::ceil(layers * shape.stages / (layers + head) - kStageRounding));
  const int idle = shape.stages - reached - kStagesBehindLayers;
  if (idle <= 0) return "";
  return std::to_string(layer_count(model)) + " layers and a head of the weight of " +
         std::to_string(std::lround(head)) + " leave " + std::to_string(idle) + " of " +
         std::to_string(shape.stages) +
         " stages without work, as the stack cuts by weight: take fewer stages, or state layers_per_chunk";
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
