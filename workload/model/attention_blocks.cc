// Attention blocks: grouped queries, multi-head latent attention, and attention to another sequence.
#include <utility>

#include "workload/model/transformer_blocks.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

double share_of_queries_and_keys(const Model& model) {
  return static_cast<double>(model.heads + model.kv_heads) / (model.heads + 2 * model.kv_heads);
}

}  // namespace

// Key and value heads are cut with the query heads they serve, on the axes that their own rule allows.
TensorDim TransformerBuilder::key_value_heads() const {
  const DimBlock block{model_.kv_heads, axes_on(job_, "kv_heads") | axes_on(job_, "attention_kv_heads")};
  return {"heads", {block, block}};
}

TensorDim TransformerBuilder::attended_key_value_heads() const {
  const DimBlock block{model_.kv_heads, axes_on(job_, "attention_kv_heads")};
  return {"attention_heads", {block, block}};
}

TensorId TransformerBuilder::attended(const std::string& name, TensorDim heads, std::int64_t width) {
  return activation(name,
                    {batch(), dim("attention_sequence", tokens_), std::move(heads), dim("head_dim", width)});
}

// A model without a table of positions turns its heads by them.
KernelChain TransformerBuilder::turned() const {
  return model_.learned_positions > 0 ? KernelChain::kNone : KernelChain::kRotary;
}

TensorDim TransformerBuilder::fused_heads() const {
  TensorDim fused = key_value_heads();
  fused.blocks.insert(fused.blocks.begin(), {.size = model_.heads});
  return fused;
}

TensorDim TransformerBuilder::param_fused_heads() const {
  const DimBlock block{model_.kv_heads, axes_on(job_, "param_kv_heads")};
  return {"param_heads", {{.size = model_.heads}, block, block}};
}

TensorId TransformerBuilder::projected(const std::string& name, TensorDim heads, std::int64_t width) {
  return activation(name, {batch(), sequence(), std::move(heads), dim("head_dim", width)});
}

void TransformerBuilder::attend(const std::string& name, Operand q, Operand kv, Operand context,
                                AttentionSpan span) {
  const std::string whole = std::string("t") + q.letters.back() + kv.letters.back() + context.letters.back();
  graph.operations.push_back(
      {.name = name,
       .kind = OperationKind::kAttention,
       .inputs = {std::move(q), std::move(kv)},
       .outputs = {std::move(context)},
       .whole = whole,
       .key_exchange = axes_on(job_, "key_sequence") != 0 ? KeyExchange::kRing : KeyExchange::kGather,
       .causal = span.causal,
       .attention_window = span.window});
}

void TransformerBuilder::project_out(TensorId context, std::int64_t width, TensorId out) {
  const TensorDim heads = dim("param_heads", model_.heads);
  einsum("attention out", {context, "bsnc"},
         {matrix("attention out weight", {heads, dim("", width), embed_rows()}), "ncd"}, {out, "bsd"});
}

void TransformerBuilder::attention(TensorId normalised, TensorId out, AttentionSpan span) {
  const TensorDim head_dim = dim("", model_.head_dim);
  const TensorId qkv = projected("qkv", fused_heads(), model_.head_dim);
  einsum("qkv", {normalised, "bsd"},
         {matrix("qkv weight", {embed_rows(), param_fused_heads(), head_dim}), "dnh"}, {qkv, "bsnh"});

  const TensorDim attended_heads = dim("attention_heads", model_.heads);
  const TensorId q = attended("q", attended_heads, model_.head_dim),
                 kv = attended("kv", attended_key_value_heads(), model_.head_dim);
  std::vector<Operand> fused = {{qkv, "bsnh"}};
  bias(fused, "qkv bias", {param_fused_heads(), head_dim}, "nh");
  if (model_.qk_norm) {
    const DimBlock scale{.size = model_.head_dim};
    fused.push_back({vector("qk norm weight", {{"", {scale, scale}}}), "h"});
  }
  graph.operations.push_back({.name = "heads",
                              .kind = OperationKind::kElementwise,
                              .inputs = std::move(fused),
                              .outputs = {{q, "bsnh"}, {kv, "bsnh"}},
                              .chain = turned(),
                              .normed = model_.qk_norm ? share_of_queries_and_keys(model_) : 0,
                              .saves_inputs = model_.qk_norm});

  const TensorId context = attended("context", attended_heads, model_.head_dim);
  attend("attention", {q, "bsnh"}, {kv, "btnh"}, {context, "bsnh"}, span);
  project_out(context, model_.head_dim, out);
}

// Queries, and keys with values, pass through narrow latents; a part of each key that carries the position is
// shared by all heads. Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.
void TransformerBuilder::latent_attention(TensorId normalised, TensorId out, AttentionSpan span) {
  const LatentAttention& latent = *model_.latent;
  const std::int64_t key_width = latent.plain_dim + latent.rotary_dim;
  const TensorDim heads = dim("param_heads", model_.heads);
  // The latent takes the place of the embedding in the projections out of it, also for the sharding rules.
  const auto narrow = [&](const std::string& name, std::int64_t width, std::int64_t kept) {
    const TensorId wide = activation(name, {batch(), sequence(), dim("", width)});
    einsum(name, {normalised, "bsd"}, {matrix(name + " weight", {embed_rows(), dim("", width)}), "dl"},
           {wide, "bsl"});
    const TensorId rows = activation(name + " norm", {batch(), sequence(), dim("", kept)});
    graph.operations.push_back(
        {.name = name + " norm",
         .kind = OperationKind::kElementwise,
         .inputs = {{wide, "bsl"}, {norm_weight(name + " norm weight", dim("", kept)), "l"}},
         .outputs = {{rows, "bsl"}},
         .statistics = "l",
         .reductions = 1,
         .chain = KernelChain::kNorm});
    return std::pair{wide, rows};
  };
  const auto widen = [&](const std::string& name, TensorId rows, std::int64_t rank, std::int64_t width) {
    const TensorId wide = projected(name, query_heads(), width);
    einsum(name, {rows, "bsl"},
           {matrix(name + " weight", {dim("param_embed", rank), heads, dim("", width)}), "lnh"},
           {wide, "bsnh"});
    return wide;
  };

  TensorId query = -1;
  if (latent.query_rank > 0) {
    query = widen("q up", narrow("q down", latent.query_rank, latent.query_rank).second, latent.query_rank,
                  key_width);
  } else {
    query = projected("q projection", query_heads(), key_width);
    einsum("q projection", {normalised, "bsd"},
           {matrix("q weight", {embed_rows(), heads, dim("", key_width)}), "dnh"}, {query, "bsnh"});
  }
  const auto [kv_down, kv_rows] = narrow("kv down", latent.kv_rank + latent.rotary_dim, latent.kv_rank);
  const TensorId kv_up = widen("kv up", kv_rows, latent.kv_rank, latent.plain_dim + latent.value_dim);

  const TensorDim attended_heads = dim("attention_heads", model_.heads);
  const TensorId q = attended("q", attended_heads, key_width);
  const TensorId kv = attended("kv", attended_heads, key_width + latent.value_dim);
  graph.operations.push_back({.name = "heads",
                              .kind = OperationKind::kElementwise,
                              .inputs = {{query, "bsnh"}, {kv_up, "bsnk"}, {kv_down, "bsr"}},
                              .outputs = {{q, "bsnh"}, {kv, "bsnk"}},
                              .whole = "hkr",
                              .chain = turned(),
                              .saves_inputs = false});
  const TensorId context = attended("context", attended_heads, latent.value_dim);
  attend("attention", {q, "bsnh"}, {kv, "btnk"}, {context, "bsnc"}, span);
  project_out(context, latent.value_dim, out);
}

void TransformerBuilder::cross_attention(TensorId normalised, TensorId memory, std::int64_t memory_tokens,
                                         TensorId out) {
  const TensorDim head_dim = dim("", model_.head_dim), heads = dim("param_heads", model_.heads);
  const TensorId q = projected("cross q", query_heads(), model_.head_dim);
  einsum("cross q", {normalised, "bsd"}, {matrix("cross q weight", {embed_rows(), heads, head_dim}), "dnh"},
         {q, "bsnh"});
  const DimBlock block{model_.kv_heads, axes_on(job_, "param_kv_heads")};
  const TensorId kv = activation("cross kv", {batch(), dim("sequence", memory_tokens), key_value_heads(),
                                              dim("head_dim", model_.head_dim)});
  einsum("cross kv", {memory, "btd"},
         {matrix("cross kv weight", {embed_rows(), {"param_heads", {block, block}}, head_dim}), "dnh"},
         {kv, "btnh"});
  const TensorId context = projected("cross context", query_heads(), model_.head_dim);
  attend("cross attention", {q, "bsnh"}, {kv, "btnh"}, {context, "bsnh"}, {.causal = false});
  einsum("cross attention out", {context, "bsnh"},
         {matrix("cross attention out weight", {heads, head_dim, embed_rows()}), "nhd"}, {out, "bsd"});
}

}  // namespace podsim
