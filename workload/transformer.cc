// The dense transformer as three graphs: the embedding, one layer, and the head with its loss.
#include "workload/transformer.h"

#include <utility>

#include "workload/sharding.h"

namespace podsim {
namespace {

// Builds tensors of one job's model; each function names what it makes as the rules do.
class Builder {
 public:
  explicit Builder(const Job& job) : job_(job), model_(job.model) {}

  TensorId residual(const std::string& name, bool constrained = true) {
    Tensor tensor =
        activation(name, {batch(), dim("residual_sequence", job_.sequence), dim("embed", model_.d_model)});
    tensor.constrained = constrained;
    return graph.add(std::move(tensor));
  }
  TensorId projected(const std::string& name, TensorDim heads) {
    return graph.add(
        activation(name, {batch(), sequence(), std::move(heads), dim("head_dim", model_.head_dim)}));
  }
  // As attention sees it: queries and keys may be cut otherwise than the projections around them.
  TensorId attended(const std::string& name, TensorDim heads) {
    return graph.add(activation(name, {batch(), dim("attention_sequence", job_.sequence), std::move(heads),
                                       dim("head_dim", model_.head_dim)}));
  }
  TensorId hidden(const std::string& name, int matrices) {
    std::vector<TensorDim> dims = {batch(), sequence()};
    if (matrices > 0) dims.push_back(dim("", matrices));
    dims.push_back(dim("ffn", model_.ffn));
    return graph.add(activation(name, std::move(dims)));
  }
  TensorId tokens() {
    Tensor tensor = activation("tokens", {batch(), sequence()});
    tensor.role = TensorRole::kIndex;
    return graph.add(std::move(tensor));
  }
  TensorId logits() {
    return graph.add(activation("logits", {batch(), sequence(), dim("vocabulary", model_.vocabulary)}));
  }
  TensorId token_losses() { return graph.add(activation("loss", {batch(), sequence()})); }

  TensorId matrix(const std::string& name, std::vector<TensorDim> dims) {
    Tensor tensor{.name = name, .role = TensorRole::kParameter, .dims = std::move(dims)};
    return graph.add(std::move(tensor));
  }
  TensorId vector(const std::string& name, std::vector<TensorDim> dims) {
    const TensorId id = matrix(name, std::move(dims));
    graph.tensors.back().vector = true;
    return id;
  }
  // Scale of a norm, followed by its offset where the model has biases.
  TensorId norm_weight(const std::string& name) {
    TensorDim embed = dim("param_embed", model_.d_model);
    if (model_.biases) embed.blocks.push_back(embed.blocks[0]);
    return vector(name, {embed});
  }
  // Appends a bias operand for the operation after a projection, in a model that has biases.
  void bias(std::vector<Operand>& inputs, const std::string& name, std::vector<TensorDim> dims,
            const std::string& letters) {
    if (model_.biases) inputs.push_back({vector(name, std::move(dims)), letters});
  }

  static TensorDim dim(const std::string& logical, std::int64_t size) { return {logical, {{.size = size}}}; }
  TensorDim query_heads() const { return dim("heads", model_.heads); }
  // Key and value heads are cut with the query heads they serve, on the axes that their own rule allows.
  TensorDim key_value_heads() const {
    const DimBlock block{model_.kv_heads, axes_on(job_, "kv_heads")};
    return {"heads", {block, block}};
  }
  TensorDim attended_key_value_heads() const {
    const DimBlock block{model_.kv_heads, axes_on(job_, "attention_kv_heads")};
    return {"attention_heads", {block, block}};
  }
  TensorDim fused_heads() const {
    TensorDim fused = key_value_heads();
    fused.blocks.insert(fused.blocks.begin(), {.size = model_.heads});
    return fused;
  }
  TensorDim param_fused_heads() const {
    const DimBlock block{model_.kv_heads, axes_on(job_, "param_kv_heads")};
    return {"param_heads", {{.size = model_.heads}, block, block}};
  }

  void norm(const std::string& name, TensorId x, TensorId out) {
    graph.operations.push_back({.name = name,
                                .kind = OperationKind::kElementwise,
                                .inputs = {{x, "bsd"}, {norm_weight(name + " weight"), "d"}},
                                .outputs = {{out, "bsd"}},
                                .statistics = "d",
                                .reductions = model_.biases ? 2 : 1});
  }
  void einsum(const std::string& name, Operand x, Operand weight, Operand out, bool low_precision) {
    graph.operations.push_back({.name = name,
                                .kind = OperationKind::kEinsum,
                                .inputs = {std::move(x), std::move(weight)},
                                .outputs = {std::move(out)},
                                .low_precision = low_precision});
  }
  void sum(const std::string& name, std::vector<Operand> inputs, TensorId out) {
    graph.operations.push_back(
        {.name = name, .kind = OperationKind::kSum, .inputs = std::move(inputs), .outputs = {{out, "bsd"}}});
  }

  void attention(TensorId normalised, TensorId out);
  void feed_forward(TensorId normalised, TensorId out);

  Graph graph;

 private:
  TensorDim batch() const {
    return dim("batch", static_cast<std::int64_t>(job_.microbatch) * job_.batch_shards());
  }
  TensorDim sequence() const { return dim("sequence", job_.sequence); }
  static Tensor activation(const std::string& name, std::vector<TensorDim> dims) {
    return {.name = name, .role = TensorRole::kActivation, .dims = std::move(dims)};
  }

  const Job& job_;
  const Model& model_;
};

void Builder::attention(TensorId normalised, TensorId out) {
  const TensorDim embed = dim("param_embed", model_.d_model), head_dim = dim("", model_.head_dim);
  const TensorId qkv = projected("qkv", fused_heads());
  einsum("qkv", {normalised, "bsd"}, {matrix("qkv weight", {embed, param_fused_heads(), head_dim}), "dnh"},
         {qkv, "bsnh"}, true);

  const TensorId q = attended("q", dim("attention_heads", model_.heads)),
                 kv = attended("kv", attended_key_value_heads());
  std::vector<Operand> fused = {{qkv, "bsnh"}};
  bias(fused, "qkv bias", {param_fused_heads(), head_dim}, "nh");
  graph.operations.push_back({.name = "heads",
                              .kind = OperationKind::kElementwise,
                              .inputs = std::move(fused),
                              .outputs = {{q, "bsnh"}, {kv, "bsnh"}},
                              .saves_inputs = false});

  const TensorId context = projected("context", query_heads());
  graph.operations.push_back({.name = "attention",
                              .kind = OperationKind::kAttention,
                              .inputs = {{q, "bsnh"}, {kv, "btnh"}},
                              .outputs = {{context, "bsnh"}},
                              .whole = "th",
                              .key_exchange = axes_on(job_, "key_sequence") != 0 ? KeyExchange::kRing
                                                                                 : KeyExchange::kGather});
  const TensorDim heads = dim("param_heads", model_.heads);
  einsum("attention out", {context, "bsnh"},
         {matrix("attention out weight", {heads, head_dim, embed}), "nhd"}, {out, "bsd"}, true);
}

void Builder::feed_forward(TensorId normalised, TensorId out) {
  const int matrices = model_.gated_ffn ? 2 : 1;
  const TensorDim embed = dim("param_embed", model_.d_model), ffn = dim("param_ffn", model_.ffn);
  const TensorId up = hidden("ffn up", matrices), active = hidden("ffn activation", 0);
  einsum("ffn up", {normalised, "bsd"}, {matrix("ffn up weight", {embed, dim("", matrices), ffn}), "dgf"},
         {up, "bsgf"}, true);
  std::vector<Operand> inputs = {{up, "bsgf"}};
  bias(inputs, "ffn up bias", {dim("", matrices), ffn}, "gf");
  graph.operations.push_back({.name = "activation",
                              .kind = OperationKind::kElementwise,
                              .inputs = std::move(inputs),
                              .outputs = {{active, "bsf"}}});
  einsum("ffn down", {active, "bsf"}, {matrix("ffn down weight", {ffn, embed}), "fd"}, {out, "bsd"}, true);
}

}  // namespace

Graph embedding_graph(const Job& job) {
  Builder b(job);
  const TensorDim embed = Builder::dim("param_embed", job.model.d_model);
  const TensorId out = b.residual("embedding");
  const TensorId table =
      b.matrix("embedding table", {Builder::dim("param_vocabulary", job.model.vocabulary), embed});
  std::vector<Operand> inputs = {{table, "vd"}};
  if (job.model.learned_positions > 0) {
    inputs.push_back(
        {b.matrix("position table", {Builder::dim("", job.model.learned_positions), embed}), "pd"});
  }
  inputs.push_back({b.tokens(), "bs"});
  b.graph.operations.push_back({.name = "embedding",
                                .kind = OperationKind::kEmbedding,
                                .inputs = std::move(inputs),
                                .outputs = {{out, "bsd"}}});
  b.graph.output = out;
  return std::move(b.graph);
}

Graph layer_graph(const Job& job) {
  Builder b(job);
  const TensorDim embed = Builder::dim("param_embed", job.model.d_model);
  const TensorId x = b.graph.input = b.residual("layer input");
  const TensorId y = b.graph.output = b.residual("layer output");
  if (job.model.parallel_block) {
    const TensorId normalised = b.residual("norm");
    b.norm("norm", x, normalised);
    // Left unconstrained, the two branches are added before their partial sums are reduced.
    const TensorId attention = b.residual("attention out", false), ffn = b.residual("ffn down", false);
    b.attention(normalised, attention);
    b.feed_forward(normalised, ffn);
    const TensorId branches = b.residual("branches");
    b.sum("add branches", {{attention, "bsd"}, {ffn, "bsd"}}, branches);
    std::vector<Operand> terms = {{x, "bsd"}, {branches, "bsd"}};
    b.bias(terms, "attention out bias", {embed}, "d");
    b.bias(terms, "ffn down bias", {embed}, "d");
    b.sum("residual add", std::move(terms), y);
    return std::move(b.graph);
  }
  const TensorId norm1 = b.residual("norm 1"), attention = b.residual("attention out"),
                 middle = b.residual("middle");
  b.norm("norm 1", x, norm1);
  b.attention(norm1, attention);
  std::vector<Operand> first = {{x, "bsd"}, {attention, "bsd"}};
  b.bias(first, "attention out bias", {embed}, "d");
  b.sum("residual add 1", std::move(first), middle);
  const TensorId norm2 = b.residual("norm 2"), ffn = b.residual("ffn down");
  b.norm("norm 2", middle, norm2);
  b.feed_forward(norm2, ffn);
  std::vector<Operand> second = {{middle, "bsd"}, {ffn, "bsd"}};
  b.bias(second, "ffn down bias", {embed}, "d");
  b.sum("residual add 2", std::move(second), y);
  return std::move(b.graph);
}

Graph head_graph(const Job& job) {
  Builder b(job);
  const TensorId x = b.graph.input = b.residual("head input"), normalised = b.residual("final norm");
  b.norm("final norm", x, normalised);
  const TensorId table = b.matrix("output table", {Builder::dim("param_vocabulary", job.model.vocabulary),
                                                   Builder::dim("param_embed", job.model.d_model)});
  b.graph.tensors[static_cast<std::size_t>(table)].shared = job.model.tied_embedding;
  const TensorId logits = b.logits(), losses = b.token_losses();
  b.einsum("logits", {normalised, "bsd"}, {table, "vd"}, {logits, "bsv"}, false);
  b.graph.operations.push_back({.name = "loss",
                                .kind = OperationKind::kLoss,
                                .inputs = {{logits, "bsv"}},
                                .outputs = {{losses, "bs"}},
                                .statistics = "v",
                                .reductions = 3});
  return std::move(b.graph);
}

}  // namespace podsim
