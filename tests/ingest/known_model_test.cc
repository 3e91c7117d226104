// A name of the catalogue stands for sizes only where all that would be written is the same.
#include "ingest/launchers/known_model.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/catalog/catalog.h"

namespace podsim::known_model_test {
namespace {

// Models whose every number a configuration can say.
std::vector<std::pair<std::string, ModelSizes>> models_of_configurations() {
  const Catalog catalog;
  std::vector<std::pair<std::string, ModelSizes>> found;
  for (const std::string& name : catalog.names(Catalog::Section::kModels)) {
    const auto model = catalog.model(name);
    if (!model) continue;
    const ModelSizes sizes = sizes_of_model(*model);
    const std::string named = name_in_catalogue(sizes);
    if (!named.empty()) found.emplace_back(named, sizes);
  }
  return found;
}

TEST(KnownModel, is_found_by_the_sizes_of_most_models_of_the_catalogue) {
  const Catalog catalog;
  EXPECT_GT(models_of_configurations().size(), 70u);
  for (const char* name : {"llama3_8b", "mixtral_8x7b", "deepseek_v2_lite", "deepseek_v3", "deepseek_v3_mtp",
                           "llama4_scout", "gemma3_1b", "gpt_oss_20b", "qwen3_30b_a3b", "gpt2_124m"})
    EXPECT_EQ(name_in_catalogue(sizes_of_model(*catalog.model(name))), name);
}

using Number = std::optional<std::int64_t>;
using Numbers = std::vector<std::pair<std::string, Number*>>;
using Flags = std::vector<std::pair<std::string, bool*>>;

// All numbers that are written of these sizes and that something is computed from.
Numbers numbers_of(ModelSizes& sizes) {
  Numbers numbers = {{"layers", &sizes.layers},
                     {"d_model", &sizes.d_model},
                     {"heads", &sizes.heads},
                     {"vocabulary", &sizes.vocabulary},
                     {"learned_positions", &sizes.learned_positions},
                     {"attention_window", &sizes.attention_window},
                     {"full_every", &sizes.full_every},
                     {"prediction_layers", &sizes.prediction_layers}};
  const auto add = [&](const Numbers& more) { numbers.insert(numbers.end(), more.begin(), more.end()); };
  if (!sizes.latent) add({{"kv_heads", &sizes.kv_heads}, {"head_dim", &sizes.head_dim}});
  if (sizes.latent)
    add({{"query_rank", &sizes.latent->query_rank},
         {"kv_rank", &sizes.latent->kv_rank},
         {"plain_dim", &sizes.latent->plain_dim},
         {"rotary_dim", &sizes.latent->rotary_dim},
         {"value_dim", &sizes.latent->value_dim}});
  if (!sizes.experts || *sizes.experts->dense_layers > 0 || *sizes.experts->every > 1)
    numbers.emplace_back("ffn", &sizes.ffn);
  if (sizes.experts)
    add({{"experts", &sizes.experts->experts},
         {"experts_per_token", &sizes.experts->experts_per_token},
         {"expert_ffn", &sizes.experts->expert_ffn},
         {"shared_ffn", &sizes.experts->shared_ffn},
         {"dense_layers", &sizes.experts->dense_layers},
         {"every", &sizes.experts->every},
         {"most_groups", &sizes.experts->most_groups}});
  return numbers;
}

Flags flags_of(ModelSizes& sizes) {
  Flags flags = {{"gated_ffn", &sizes.gated_ffn},
                 {"tied_embedding", &sizes.tied_embedding},
                 {"biases", &sizes.biases},
                 {"qk_norm", &sizes.qk_norm},
                 {"post_norms", &sizes.post_norms},
                 {"dropout", &sizes.dropout},
                 {"attention_sinks", &sizes.attention_sinks}};
  if (sizes.experts) flags.emplace_back("router_bias", &sizes.experts->router_bias);
  return flags;
}

TEST(KnownModel, is_another_where_any_number_is_another) {
  int changes = 0;
  for (auto& [name, sizes] : models_of_configurations()) {
    for (const auto& [field, number] : numbers_of(sizes)) {
      const Number before = *number;
      *number = before.value_or(0) + 1;
      EXPECT_NE(name_in_catalogue(sizes), name) << field;
      *number = before;
      ++changes;
    }
    for (const auto& [field, flag] : flags_of(sizes)) {
      *flag = !*flag;
      EXPECT_NE(name_in_catalogue(sizes), name) << field;
      *flag = !*flag;
      ++changes;
    }
    EXPECT_EQ(name_in_catalogue(sizes), name);
  }
  EXPECT_GT(changes, 1000);
}

}  // namespace
}  // namespace podsim::known_model_test
