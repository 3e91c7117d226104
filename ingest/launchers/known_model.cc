// Compares sizes, and looks for names of keys.
#include "ingest/launchers/known_model.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "engine/check.h"
#include "ingest/launchers/settings.h"
#include "proto/catalog/catalog.h"
#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/text/parse.h"

namespace podsim {

namespace {

Whole stated_size(int number) { return number == 0 ? Whole() : Whole(number); }

// Without its name, and without numbers that nothing is computed from.
Model comparable(Model model) {
  model.name.clear();
  if (!model.biases) model.rms_norm = false;  // such norms have no offset anyhow
  if (model.latent) model.kv_heads = model.head_dim = 0;
  if (model.experts && model.experts->dense_layers == 0 && model.experts->every == 1) model.ffn = 0;
  return model;
}

// By way of the text, so that what is written is what is compared.
std::optional<Model> as_written(const ModelSizes& sizes) {
  ScenarioText text;
  add_model(text, "compared", sizes, "");
  schema::JobChoice job;
  if (!parse_known_text(text.text(), job)) return std::nullopt;
  return to_model(job.model_override());
}

}  // namespace

ModelSizes sizes_of_model(const Model& model) {
  ModelSizes sizes;
  sizes.layers = model.layers;
  sizes.d_model = model.d_model;
  sizes.heads = model.heads;
  sizes.kv_heads = model.kv_heads;
  sizes.head_dim = model.head_dim;
  sizes.ffn = model.ffn;
  sizes.vocabulary = model.vocabulary;
  sizes.learned_positions = stated_size(model.learned_positions);
  sizes.attention_window = stated_size(model.attention_window);
  sizes.full_every = stated_size(model.full_every);
  sizes.prediction_layers = stated_size(model.prediction_layers);
  sizes.gated_ffn = model.gated_ffn;
  sizes.tied_embedding = model.tied_embedding;
  sizes.biases = model.biases;
  sizes.rms_norm = model.rms_norm || !model.biases;
  sizes.qk_norm = model.qk_norm;
  sizes.post_norms = model.post_norms;
  sizes.attention_sinks = model.attention_sinks;
  sizes.dropout = model.dropout;
  if (model.experts) {
    const MixtureOfExperts& experts = *model.experts;
    sizes.experts = ModelSizes::Experts{experts.experts,
                                        experts.experts_per_token,
                                        experts.expert_ffn,
                                        experts.shared_ffn,
                                        experts.dense_layers,
                                        experts.every,
                                        stated_size(experts.most_groups),
                                        std::nullopt,
                                        experts.router_bias};
    if (experts.capacity_factor != 1) sizes.experts->capacity_factor = experts.capacity_factor;
  }
  if (model.latent)
    sizes.latent =
        ModelSizes::Latent{model.latent->query_rank, model.latent->kv_rank, model.latent->plain_dim,
                           model.latent->rotary_dim, model.latent->value_dim};
  return sizes;
}

std::string name_in_catalogue(const ModelSizes& sizes) {
  PODSIM_CHECK(sizes.layers && sizes.d_model && sizes.heads && sizes.vocabulary, "no size is missing");
  static const Catalog catalog;
  const std::optional<Model> wanted = as_written(sizes);
  if (!wanted) return "";
  for (const std::string& name : catalog.names(Catalog::Section::kModels)) {
    const auto model = catalog.model(name);
    if (model && comparable(*model) == comparable(*wanted)) return name;
  }
  return "";
}

std::string other_layers(const Configuration& settings) {
  constexpr std::array<std::string_view, 8> kKeys = {
      "block_configs", "hybrid_override_pattern", "full_attention_interval", "mamba_", "ssm_",
      "state_size",    "attn_layer_period",       "linear_num_value_heads"};
  for (const Setting& setting : settings.all()) {
    std::string_view name = setting.name;
    if (name.starts_with("text_config.")) name.remove_prefix(12);
    for (const std::string_view key : kKeys)
      if (name == key || (key.ends_with("_") && name.starts_with(key))) return setting.name;
    // Kinds of layers by number, of which 1 is softmax attention.
    if (name == "attn_type_list" && setting.text.find('0') != std::string::npos) return setting.name;
  }
  return "";
}

bool is_encoder(const std::string& model_type) {
  constexpr std::array<std::string_view, 15> kEncoders = {
      "bert",   "roberta",   "xlm-roberta", "distilbert", "electra",
      "albert", "camembert", "deberta",     "deberta-v2", "modernbert",
      "mpnet",  "vit",       "deit",        "beit",       "clip_vision_model"};
  return std::ranges::find(kEncoders, model_type) != kEncoders.end();
}

}  // namespace podsim
