// Pieces of transformers as graphs: embedding, layers of each kind, head with its loss, prediction of further
// tokens.
#include "workload/model/transformer.h"

#include <utility>

namespace podsim {
namespace {

// A dense layer and a norm before the output table. Source: BERT, arXiv 1810.04805, and its released code.
TensorId masked_transform(TransformerBuilder& b, TensorId x) {
  const TensorId projected = b.residual("transform"), active = b.residual("transform activation");
  b.einsum("transform", {x, "bsd"},
           {b.matrix("transform weight",
                     {b.embed_rows(), TransformerBuilder::dim("", b.embed_rows().blocks[0].size)}),
            "dk"},
           {projected, "bsk"});
  std::vector<Operand> inputs = {{projected, "bsd"}};
  b.bias(inputs, "transform bias", {b.embed_rows()}, "d");
  b.graph.operations.push_back({.name = "transform activation",
                                .kind = OperationKind::kElementwise,
                                .inputs = std::move(inputs),
                                .outputs = {{active, "bsd"}}});
  return active;
}

// The first token's state decides whether two segments follow each other.
void pooler(TransformerBuilder& b, TensorId x) {
  const TensorDim embed = TransformerBuilder::dim("embed", b.embed_rows().blocks[0].size);
  const TensorDim classes = TransformerBuilder::dim("", 2),
                  width = TransformerBuilder::dim("", embed.blocks[0].size);
  const TensorId first = b.activation("first token", {b.batch(), embed});
  b.graph.operations.push_back({.name = "first token",
                                .kind = OperationKind::kElementwise,
                                .inputs = {{x, "bsd"}},
                                .outputs = {{first, "bd"}},
                                .whole = "s",
                                .saves_inputs = false});
  const TensorId pooled = b.activation("pooled", {b.batch(), width});
  const TensorId active = b.activation("pooled activation", {b.batch(), embed});
  b.einsum("pooler", {first, "bd"}, {b.matrix("pooler weight", {b.embed_rows(), width}), "dk"},
           {pooled, "bk"});
  std::vector<Operand> inputs = {{pooled, "bd"}};
  b.bias(inputs, "pooler bias", {b.embed_rows()}, "d");
  b.graph.operations.push_back({.name = "pooler activation",
                                .kind = OperationKind::kElementwise,
                                .inputs = std::move(inputs),
                                .outputs = {{active, "bd"}}});
  const TensorId follows = b.activation("follows", {b.batch(), classes}),
                 loss = b.activation("follows loss", {b.batch()});
  b.einsum("follows", {active, "bd"}, {b.matrix("follows weight", {b.embed_rows(), classes}), "dk"},
           {follows, "bk"});
  b.graph.operations.push_back({.name = "follows loss",
                                .kind = OperationKind::kLoss,
                                .inputs = {{follows, "bk"}},
                                .outputs = {{loss, "b"}},
                                .statistics = "k",
                                .reductions = 3});
}

}  // namespace

Graph embedding_graph(const Job& job) {
  TransformerBuilder b(job);
  const TensorId out = b.residual("embedding");
  std::vector<Operand> tables = {{b.embedding_table(false), "vd"}};
  const auto rows = [&](const std::string& name, int count, const std::string& letters) {
    if (count > 0)
      tables.push_back({b.matrix(name, {TransformerBuilder::dim("", count), b.embed_rows()}), letters});
  };
  rows("position table", job.model.learned_positions, "pd");
  rows("segment table", job.model.masked ? job.model.masked->segments : 0, "qd");
  b.look_up(std::move(tables), out);
  b.graph.output = out;
  if (job.model.dropout) {
    b.graph.output = b.residual("dropped embedding");
    b.dropped_sum("embedding dropout", {{out, "bsd"}}, 0, b.graph.output);
  }
  return std::move(b.graph);
}

Graph layer_graph(const Job& job, LayerKind kind) {
  TransformerBuilder b(job);
  b.graph.input = b.residual("layer input");
  b.graph.output = b.residual("layer output");
  b.layer(b.graph.input, b.graph.output, kind);
  return std::move(b.graph);
}

Graph head_graph(const Job& job) {
  TransformerBuilder b(job);
  const TensorId x = b.graph.input = b.residual("head input");
  TensorId last = x;
  if (job.model.masked) {
    pooler(b, x);
    last = masked_transform(b, x);
  }
  b.loss(last, job.model.tied_embedding);
  return std::move(b.graph);
}

Graph prediction_graph(const Job& job, LayerKind kind) {
  TransformerBuilder b(job);
  const TensorId x = b.graph.input = b.graph.output = b.residual("prediction input");
  const TensorId next = b.residual("next embedding");
  b.look_up({{b.embedding_table(true), "vd"}}, next);
  // One projection of both, joined: the sum of a projection of each.
  std::vector<Operand> terms;
  for (const auto& [name, from] : {std::pair{"state", x}, std::pair{"next", next}}) {
    const std::string prefix = name;
    const TensorId normalised = b.residual(prefix + " norm"),
                   term = b.residual(prefix + " projection", false);
    b.norm(prefix + " norm", from, normalised);
    b.einsum(prefix + " projection", {normalised, "bsd"},
             {b.matrix(prefix + " projection weight",
                       {b.embed_rows(), TransformerBuilder::dim("", job.model.d_model)}),
              "dk"},
             {term, "bsk"});
    terms.push_back({term, "bsd"});
  }
  const TensorId joined = b.residual("joined"), y = b.residual("prediction output");
  b.sum("join", std::move(terms), joined);
  b.layer(joined, y, kind);
  b.graph.layer_end = y;
  b.loss(y, true);
  return std::move(b.graph);
}

}  // namespace podsim
