// Builds the pieces of transformers: tensors named as sharding rules name them, and operations between them.
#include "workload/model/transformer_blocks.h"

#include <utility>

#include "workload/model/dropout.h"
#include "workload/sharding/sharding.h"

namespace podsim {

TensorDim TransformerBuilder::batch() const {
  return dim("batch", static_cast<std::int64_t>(job_.microbatch) * batch_shards(job_));
}

TensorId TransformerBuilder::activation(const std::string& name, std::vector<TensorDim> dims) {
  return graph.add({.name = name, .role = TensorRole::kActivation, .dims = std::move(dims)});
}

TensorId TransformerBuilder::indices(const std::string& name, std::vector<TensorDim> dims) {
  return graph.add({.name = name, .role = TensorRole::kIndex, .dims = std::move(dims)});
}

TensorId TransformerBuilder::residual(const std::string& name, bool constrained) {
  const TensorId id = activation(name, {batch(), residual_sequence(), dim("embed", model_.d_model)});
  graph.tensors.back().constrained = constrained;
  return id;
}

TensorId TransformerBuilder::matrix(const std::string& name, std::vector<TensorDim> dims) {
  return graph.add({.name = name, .role = TensorRole::kParameter, .dims = std::move(dims)});
}

TensorId TransformerBuilder::vector(const std::string& name, std::vector<TensorDim> dims) {
  const TensorId id = matrix(name, std::move(dims));
  graph.tensors.back().vector = true;
  return id;
}

TensorId TransformerBuilder::norm_weight(const std::string& name, TensorDim width) {
  if (model_.norm_offsets()) width.blocks.push_back(width.blocks[0]);
  return vector(name, {std::move(width)});
}

void TransformerBuilder::bias(std::vector<Operand>& inputs, const std::string& name,
                              std::vector<TensorDim> dims, const std::string& letters) {
  if (model_.biases) inputs.push_back({vector(name, std::move(dims)), letters});
}

void TransformerBuilder::norm(const std::string& name, TensorId x, TensorId out) {
  graph.operations.push_back({.name = name,
                              .kind = OperationKind::kElementwise,
                              .inputs = {{x, "bsd"}, {norm_weight(name + " weight", embed_rows()), "d"}},
                              .outputs = {{out, "bsd"}},
                              .statistics = "d",
                              .reductions = model_.norm_offsets() ? 2 : 1,
                              .chain = KernelChain::kNorm});
}

void TransformerBuilder::einsum(const std::string& name, Operand x, Operand weight, Operand out,
                                bool low_precision) {
  graph.operations.push_back({.name = name,
                              .kind = OperationKind::kEinsum,
                              .inputs = {std::move(x), std::move(weight)},
                              .outputs = {std::move(out)},
                              .low_precision = low_precision});
}

void TransformerBuilder::sum(const std::string& name, std::vector<Operand> inputs, TensorId out) {
  graph.operations.push_back(
      {.name = name, .kind = OperationKind::kSum, .inputs = std::move(inputs), .outputs = {{out, "bsd"}}});
}

void TransformerBuilder::dropped_sum(const std::string& name, std::vector<Operand> inputs, int drops_from,
                                     TensorId out) {
  sum(name, std::move(inputs), out);
  if (!model_.dropout) return;
  const TensorId mask = residual(name + " mask");
  graph.tensors.back().element_bytes = kMaskBytes;
  Operation& op = graph.operations.back();
  op.outputs.push_back({mask, "bsd"});
  op.drops_from = drops_from;
  op.chain = KernelChain::kDropout;
}

void TransformerBuilder::feed_forward(const std::string& name, TensorId normalised, TensorId out, int width,
                                      bool gated) {
  const int matrices = gated ? 2 : 1;
  const TensorDim ffn = dim("param_ffn", width), hidden = dim("ffn", width);
  const TensorId up = activation(name + " up", {batch(), sequence(), dim("", matrices), hidden});
  const TensorId active = activation(name + " activation", {batch(), sequence(), hidden});
  einsum(name + " up", {normalised, "bsd"},
         {matrix(name + " up weight", {embed_rows(), dim("", matrices), ffn}), "dgf"}, {up, "bsgf"});
  std::vector<Operand> inputs = {{up, "bsgf"}};
  bias(inputs, name + " up bias", {dim("", matrices), ffn}, "gf");
  graph.operations.push_back({.name = name == "ffn" ? "activation" : name + " activation",
                              .kind = OperationKind::kElementwise,
                              .inputs = std::move(inputs),
                              .outputs = {{active, "bsf"}},
                              .chain = gated ? KernelChain::kActivation : KernelChain::kNone});
  einsum(name + " down", {active, "bsf"}, {matrix(name + " down weight", {ffn, embed_rows()}), "fd"},
         {out, "bsd"});
}

template <typename Block>
void TransformerBuilder::residual_block(const std::string& number, TensorId x, TensorId y,
                                        const std::string& name, bool biased, Block&& block) {
  const TensorId normalised = residual("norm " + number), made = residual(name);
  norm("norm " + number, x, normalised);
  block(normalised, made);
  const TensorId term = model_.post_norms ? residual("post norm " + number) : made;
  if (model_.post_norms) norm("post norm " + number, made, term);
  std::vector<Operand> terms = {{x, "bsd"}, {term, "bsd"}};
  if (biased) bias(terms, name + " bias", {embed_rows()}, "d");
  dropped_sum("residual add " + number, std::move(terms), 1, y);
}

// Attention and feed-forward read the same normalised input.
void TransformerBuilder::parallel_layer(TensorId x, TensorId y, AttentionSpan span) {
  const TensorId normalised = residual("norm");
  norm("norm", x, normalised);
  // Left unconstrained, the two branches are added before their partial sums are reduced.
  const TensorId attended = residual("attention out", false), ffn = residual("ffn down", false);
  attention(normalised, attended, span);
  feed_forward("ffn", normalised, ffn, model_.ffn, model_.gated_ffn);
  const TensorId branches = residual("branches");
  sum("add branches", {{attended, "bsd"}, {ffn, "bsd"}}, branches);
  std::vector<Operand> terms = {{x, "bsd"}, {branches, "bsd"}};
  bias(terms, "attention out bias", {embed_rows()}, "d");
  bias(terms, "ffn down bias", {embed_rows()}, "d");
  dropped_sum("residual add", std::move(terms), 1, y);
}

void TransformerBuilder::layer(TensorId x, TensorId y, LayerKind kind) {
  const AttentionSpan span{.window = kind.local ? model_.attention_window : 0};
  if (model_.parallel_block) return parallel_layer(x, y, span);
  const TensorId middle = residual("middle");
  residual_block("1", x, middle, "attention out", true, [&](TensorId normalised, TensorId out) {
    model_.latent ? latent_attention(normalised, out, span) : attention(normalised, out, span);
  });
  if (kind.experts) {
    residual_block("2", middle, y, "expert sum", false,
                   [&](TensorId normalised, TensorId out) { experts(normalised, out); });
    return;
  }
  residual_block("2", middle, y, "ffn down", true, [&](TensorId normalised, TensorId out) {
    feed_forward("ffn", normalised, out, model_.ffn, model_.gated_ffn);
  });
}

void TransformerBuilder::encoder_layer(TensorId x, TensorId y) {
  const TensorId middle = residual("middle");
  residual_block("1", x, middle, "attention out", true,
                 [&](TensorId normalised, TensorId out) { attention(normalised, out, {.causal = false}); });
  residual_block("2", middle, y, "ffn down", true, [&](TensorId normalised, TensorId out) {
    feed_forward("ffn", normalised, out, model_.ffn, model_.gated_ffn);
  });
}

void TransformerBuilder::decoder_layer(TensorId x, TensorId y, TensorId memory, std::int64_t memory_tokens) {
  const TensorId attended = residual("attended"), crossed = residual("crossed");
  residual_block("1", x, attended, "attention out", true,
                 [&](TensorId normalised, TensorId out) { attention(normalised, out, {}); });
  residual_block("2", attended, crossed, "cross attention out", true, [&](TensorId normalised, TensorId out) {
    cross_attention(normalised, memory, memory_tokens, out);
  });
  residual_block("3", crossed, y, "ffn down", true, [&](TensorId normalised, TensorId out) {
    feed_forward("ffn", normalised, out, model_.ffn, model_.gated_ffn);
  });
}

TensorId TransformerBuilder::embedding_table(bool shared) {
  const TensorId table =
      matrix("embedding table", {dim("param_vocabulary", model_.vocabulary), embed_rows()});
  graph.tensors.back().shared = shared;
  return table;
}

void TransformerBuilder::look_up(std::vector<Operand> tables, TensorId out) {
  tables.push_back({indices("tokens", {batch(), sequence()}), "bs"});
  graph.operations.push_back({.name = "embedding",
                              .kind = OperationKind::kEmbedding,
                              .inputs = std::move(tables),
                              .outputs = {{out, "bsd"}}});
}

void TransformerBuilder::loss(TensorId x, bool shared) {
  const TensorId normalised = residual("final norm");
  norm("final norm", x, normalised);
  const TensorId table = matrix("output table", {dim("param_vocabulary", model_.vocabulary), embed_rows()});
  graph.tensors.back().shared = shared;
  const TensorId logits = activation("logits", {batch(), sequence(), dim("vocabulary", model_.vocabulary)});
  const TensorId losses = activation("loss", {batch(), sequence()});
  einsum("logits", {normalised, "bsd"}, {table, "vd"}, {logits, "bsv"}, false);
  graph.operations.push_back({.name = "loss",
                              .kind = OperationKind::kLoss,
                              .inputs = {{logits, "bsv"}},
                              .outputs = {{losses, "bs"}},
                              .statistics = "v",
                              .reductions = 3});
}

}  // namespace podsim
