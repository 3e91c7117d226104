// The vision transformer's ends as graphs: patches of an image in, classes out. Source: ViT, arXiv
// 2010.11929.
#include "workload/model/vision.h"

#include <utility>

#include "workload/model/transformer_blocks.h"

namespace podsim {

Graph patch_graph(const Job& job) {
  TransformerBuilder b(job);
  const Vision& vision = *job.model.vision;
  const auto dim = TransformerBuilder::dim;
  const TensorDim pixels = dim("", std::int64_t{vision.patch} * vision.patch * vision.channels);
  const TensorDim patches = dim("residual_sequence", job.sequence - 1);
  const TensorId image = b.indices("patches", {b.batch(), patches, pixels});
  const TensorId embedded =
      b.activation("patch embedding", {b.batch(), patches, dim("embed", job.model.d_model)});
  const TensorId out = b.graph.output = b.residual("embedding");
  b.einsum("patch embedding", {image, "bsp"}, {b.matrix("patch weight", {pixels, b.embed_rows()}), "pd"},
           {embedded, "bsd"}, false);
  std::vector<Operand> terms = {{embedded, "bsd"}, {b.vector("class token", {b.embed_rows()}), "d"}};
  if (job.model.learned_positions > 0) {
    terms.push_back(
        {b.matrix("position table", {dim("", job.model.learned_positions), b.embed_rows()}), "pd"});
  }
  b.bias(terms, "patch bias", {b.embed_rows()}, "d");
  b.graph.operations.push_back({.name = "positions",
                                .kind = OperationKind::kElementwise,
                                .inputs = std::move(terms),
                                .outputs = {{out, "bsd"}},
                                .whole = "p",
                                .saves_inputs = false});
  return std::move(b.graph);
}

Graph class_graph(const Job& job) {
  TransformerBuilder b(job);
  const auto dim = TransformerBuilder::dim;
  const TensorId x = b.graph.input = b.residual("head input"), normalised = b.residual("final norm");
  b.norm("final norm", x, normalised);
  const TensorId token = b.activation("class token", {b.batch(), dim("embed", job.model.d_model)});
  b.graph.operations.push_back({.name = "class token",
                                .kind = OperationKind::kElementwise,
                                .inputs = {{normalised, "bsd"}},
                                .outputs = {{token, "bd"}},
                                .whole = "s",
                                .saves_inputs = false});
  const TensorId logits = b.activation("logits", {b.batch(), dim("vocabulary", job.model.vocabulary)});
  const TensorId loss = b.activation("loss", {b.batch()});
  b.einsum("logits", {token, "bd"},
           {b.matrix("class table", {dim("param_vocabulary", job.model.vocabulary), b.embed_rows()}), "vd"},
           {logits, "bv"}, false);
  b.graph.operations.push_back({.name = "loss",
                                .kind = OperationKind::kLoss,
                                .inputs = {{logits, "bv"}},
                                .outputs = {{loss, "b"}},
                                .statistics = "v",
                                .reductions = 3});
  return std::move(b.graph);
}

}  // namespace podsim
