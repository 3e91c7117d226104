// Compares sizes, and looks for names of keys.
#include "ingest/launchers/known_model.h"

#include <array>
#include <string_view>

#include "engine/check.h"
#include "proto/catalog/catalog.h"

namespace podsim {

std::string name_in_catalogue(const ModelSizes& sizes) {
  PODSIM_CHECK(sizes.layers && sizes.d_model && sizes.heads && sizes.vocabulary, "no size is missing");
  static const Catalog catalog;
  for (const std::string& name : catalog.names(Catalog::Section::kModels)) {
    const auto model = catalog.model(name);
    if (!model || model->layers != sizes.layers || model->d_model != sizes.d_model ||
        model->heads != sizes.heads || model->vocabulary != sizes.vocabulary ||
        model->experts.has_value() != sizes.experts.has_value() ||
        model->latent.has_value() != sizes.latent.has_value() ||
        model->tied_embedding != sizes.tied_embedding)
      continue;
    if (!sizes.latent && (model->kv_heads != sizes.kv_heads || model->head_dim != sizes.head_dim)) continue;
    if (sizes.experts ? model->experts->experts != sizes.experts->experts ||
                            model->experts->expert_ffn != sizes.experts->expert_ffn
                      : model->ffn != sizes.ffn)
      continue;
    return name;
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

}  // namespace podsim
