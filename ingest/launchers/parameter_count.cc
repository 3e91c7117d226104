// Layer by layer.
#include "ingest/launchers/parameter_count.h"

#include <string_view>

#include "engine/check.h"
#include "ingest/launchers/settings.h"

namespace podsim {
namespace {

// Counts are whole numbers below 2^53, which a double holds.
double real(const Whole& number) { return static_cast<double>(number.value_or(0)); }

double attention_parameters(const ParameterQuestion& q) {
  const auto d = real(q.sizes.d_model), heads = real(q.sizes.heads), kv = real(q.sizes.kv_heads);
  if (q.sizes.latent) {
    const double rank = real(q.sizes.latent->query_rank), latent = real(q.sizes.latent->kv_rank);
    const double rotary = real(q.sizes.latent->rotary_dim), plain = real(q.sizes.latent->plain_dim),
                 values = real(q.sizes.latent->value_dim), key_dim = plain + rotary;
    const double queries = rank > 0 ? d * rank + rank + rank * heads * key_dim : d * heads * key_dim;
    double sum =
        queries + d * (latent + rotary) + latent + latent * heads * (plain + values) + heads * values * d;
    if (q.attention_bias) sum += rank + latent + rotary + d;
    return sum;
  }
  const double dim = real(q.sizes.head_dim), queries = heads * dim, keys = kv * dim;
  double sum = d * queries + 2 * d * keys + queries * d;
  const bool output = q.family.output_bias == ModelFamily::OutputBias::kAsOthers;
  if (q.attention_bias) sum += queries + 2 * keys + (output ? d : 0);
  if (q.family.output_bias == ModelFamily::OutputBias::kAlways) sum += d;
  if (q.sizes.attention_sinks) sum += heads;
  if (q.sizes.qk_norm)
    sum += q.family.query_norm == ModelFamily::QueryNorm::kWhole ||
                   q.family.query_norm == ModelFamily::QueryNorm::kWholeIfAsked
               ? queries + keys
           : q.family.model_type == std::string_view("llama4_text") ? 0
                                                                    : 2 * dim;
  return sum;
}

double feed_forward(const ParameterQuestion& q, const Whole& hidden, bool biases) {
  const double d = real(q.sizes.d_model), width = real(hidden), in = q.sizes.gated_ffn ? 2 : 1;
  return (in + 1) * d * width + (biases ? in * width + d : 0);
}

}  // namespace

std::optional<ParameterCount> parameter_count(const ParameterQuestion& q) {
  PODSIM_CHECK(q.sizes.layers && q.sizes.d_model && q.sizes.vocabulary, "no size is missing");
  const double d = real(q.sizes.d_model), layers = real(q.sizes.layers);
  const double norm = q.family.norm == ModelFamily::Norm::kLayer       ? 2 * d
                      : q.family.norm == ModelFamily::Norm::kNoWeights ? 0
                                                                       : d;
  double shared = real(q.sizes.vocabulary) * d * (q.sizes.tied_embedding ? 1 : 2) + norm;
  shared += real(q.sizes.learned_positions) * d + (q.family.head_bias ? real(q.sizes.vocabulary) : 0);
  shared += layers * (attention_parameters(q) + q.norms * norm) + (q.family.embedding_norm ? norm : 0);
  double all = shared, active = shared;
  for (std::int64_t layer = 0; layer < *q.sizes.layers; ++layer) {
    if (!q.sizes.experts || !q.has_experts[static_cast<std::size_t>(layer)]) {
      all += feed_forward(q, q.sizes.ffn, q.mlp_bias);
      active += feed_forward(q, q.sizes.ffn, q.mlp_bias);
      continue;
    }
    const ModelSizes::Experts& experts = *q.sizes.experts;
    const double one =
        feed_forward(q, experts.expert_ffn, q.family.model_type == std::string_view("gpt_oss"));
    const double number = real(experts.experts);
    double beside = number * d + (experts.router_bias ? number : 0);
    if (*experts.shared_ffn > 0) beside += feed_forward(q, experts.shared_ffn, false);
    if (q.family.model_type == std::string_view("qwen2_moe")) beside += d;  // the gate of the shared expert
    all += number * one + beside;
    active += real(experts.experts_per_token) * one + beside;
  }
  constexpr double kMostExact = 9e15;
  if (all > kMostExact) return std::nullopt;
  return ParameterCount{static_cast<std::int64_t>(all), static_cast<std::int64_t>(active)};
}

}  // namespace podsim
