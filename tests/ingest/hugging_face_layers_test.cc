// Configurations of models whose layers differ: windows on some, experts on some.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/launchers.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::hugging_face_layers_test {
namespace {

using nlohmann::json;
using testing::LauncherAnswer;

Stated on_eight_chips() {
  Stated stated = testing::chips(8);
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  stated.stack = "generic_fsdp";
  stated.settings = {{"sequence_tokens", "4096"}, {"global_batch_sequences", "8"}};
  return stated;
}

LauncherAnswer answer_of(const json& config) {
  return testing::answer_of(import_hugging_face, config.dump(), on_eight_chips());
}

json with(json config, const json& more) {
  config.update(more);
  return config;
}

std::string catalogue_of(const json& config) {
  const json name = json::parse(answer_of(config).figures)["catalogue"];
  return name.is_null() ? "" : name.get<std::string>();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What keeps a configuration from running that has all else.
std::string not_run(const json& config) {
  const LauncherAnswer answer = answer_of(config);
  EXPECT_TRUE(answer.problems.empty()) << answer.problems.front();
  EXPECT_EQ(answer.imported.scenario.empty(), !answer.imported.needs_to_run.empty());
  return answer.imported.needs_to_run.empty() ? "" : answer.imported.needs_to_run.front().what;
}

json mixtral() {
  return {{"model_type", "mixtral"},     {"hidden_size", 4096},       {"intermediate_size", 14336},
          {"num_hidden_layers", 32},     {"num_attention_heads", 32}, {"num_key_value_heads", 8},
          {"num_local_experts", 8},      {"num_experts_per_tok", 2},  {"vocab_size", 32000},
          {"tie_word_embeddings", false}};
}

json qwen3_30b() {
  return {{"model_type", "qwen3_moe"}, {"hidden_size", 2048},          {"intermediate_size", 6144},
          {"num_hidden_layers", 48},   {"num_attention_heads", 32},    {"num_key_value_heads", 4},
          {"head_dim", 128},           {"moe_intermediate_size", 768}, {"num_experts", 128},
          {"num_experts_per_tok", 8},  {"vocab_size", 151936},         {"tie_word_embeddings", false}};
}

json deepseek_v2_lite() {
  return {{"model_type", "deepseek_v2"}, {"hidden_size", 2048},         {"intermediate_size", 10944},
          {"num_hidden_layers", 27},     {"num_attention_heads", 16},   {"moe_intermediate_size", 1408},
          {"n_routed_experts", 64},      {"n_shared_experts", 2},       {"num_experts_per_tok", 6},
          {"first_k_dense_replace", 1},  {"moe_layer_freq", 1},         {"kv_lora_rank", 512},
          {"qk_rope_head_dim", 64},      {"qk_nope_head_dim", 128},     {"v_head_dim", 128},
          {"vocab_size", 102400},        {"tie_word_embeddings", false}};
}

json gemma3_1b() {
  return {{"model_type", "gemma3_text"},
          {"hidden_size", 1152},
          {"intermediate_size", 6912},
          {"num_hidden_layers", 26},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 1},
          {"head_dim", 256},
          {"vocab_size", 262144},
          {"sliding_window", 512},
          {"sliding_window_pattern", 6}};
}

json qwen2_7b() {
  return {{"model_type", "qwen2"},   {"hidden_size", 3584},         {"intermediate_size", 18944},
          {"num_hidden_layers", 28}, {"num_attention_heads", 28},   {"num_key_value_heads", 4},
          {"vocab_size", 152064},    {"tie_word_embeddings", false}};
}

// Eight layers of a type that windows all or none unless something is stated.
json eight_layers() {
  return {{"model_type", "qwen2"},  {"hidden_size", 1024},         {"intermediate_size", 4096},
          {"num_hidden_layers", 8}, {"num_attention_heads", 16},   {"num_key_value_heads", 4},
          {"vocab_size", 32000},    {"sliding_window", 1024},      {"use_sliding_window", true},
          {"max_window_layers", 0}, {"tie_word_embeddings", false}};
}

TEST(HuggingFaceLayers, of_a_model_of_the_catalogue_are_its_own_and_no_others) {
  EXPECT_EQ(catalogue_of(mixtral()), "mixtral_8x7b");
  EXPECT_EQ(catalogue_of(qwen3_30b()), "qwen3_30b_a3b");
  EXPECT_EQ(catalogue_of(deepseek_v2_lite()), "deepseek_v2_lite");
  EXPECT_EQ(catalogue_of(gemma3_1b()), "gemma3_1b");
  EXPECT_EQ(catalogue_of(qwen2_7b()), "qwen2_5_7b");
  EXPECT_EQ(catalogue_of(with(mixtral(), {{"num_experts_per_tok", 4}})), "");
  EXPECT_EQ(catalogue_of(with(qwen3_30b(), {{"decoder_sparse_step", 2}})), "");
  EXPECT_EQ(catalogue_of(with(qwen3_30b(), {{"mlp_only_layers", {0, 1}}})), "");
  for (const char* key :
       {"moe_layer_freq", "n_shared_experts", "kv_lora_rank", "first_k_dense_replace", "intermediate_size"})
    EXPECT_EQ(catalogue_of(with(deepseek_v2_lite(), {{key, deepseek_v2_lite()[key].get<int>() + 1}})), "")
        << key;
  EXPECT_EQ(catalogue_of(with(gemma3_1b(), {{"sliding_window_pattern", 2}})), "");
  EXPECT_EQ(catalogue_of(with(qwen2_7b(), {{"use_sliding_window", true}, {"max_window_layers", 0}})), "");
}

TEST(HuggingFaceLayers, with_four_experts_a_token_are_run_with_four) {
  const LauncherAnswer answer = answer_of(with(mixtral(), {{"num_experts_per_tok", 4}}));
  EXPECT_EQ(json::parse(answer.figures)["active_parameters"], 24'154'214'400);
  EXPECT_TRUE(has(answer.imported.scenario, "experts_per_token: 4")) << answer.imported.scenario;
}

TEST(HuggingFaceLayers, without_a_window_are_every_nth_of_whatever_model_states_it) {
  json cohere = with(eight_layers(), {{"model_type", "cohere2"}, {"sliding_window_pattern", 4}});
  cohere.erase("use_sliding_window");
  cohere.erase("max_window_layers");
  const std::string stated = answer_of(cohere).imported.scenario;
  EXPECT_TRUE(has(stated, "attention_window: 1024")) << stated;
  EXPECT_TRUE(has(stated, "full_every: 4  # sliding_window_pattern, file")) << stated;
  json exaone = with(cohere, {{"model_type", "exaone4"}, {"sliding_window_pattern", "LLLG"}});
  EXPECT_TRUE(has(answer_of(exaone).imported.scenario, "full_every: 4")) << "LLLG";
  exaone["sliding_window_pattern"] = "LLLX";
  const std::vector<std::string> problems = answer_of(exaone).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(has(problems[0], "sliding_window_pattern is \"LLLX\"") && has(problems[0], "LLLG"))
      << problems[0];
  cohere.erase("sliding_window_pattern");
  EXPECT_TRUE(has(answer_of(cohere).imported.scenario, "full_every: 4")) << "the default of its class";
}

json types(int sliding, int full, int times) {
  json list = json::array();
  for (int i = 0; i < times; ++i) {
    for (int j = 0; j < sliding; ++j) list.push_back("sliding_attention");
    for (int j = 0; j < full; ++j) list.push_back("full_attention");
  }
  return list;
}

TEST(HuggingFaceLayers, have_the_types_that_are_listed) {
  const auto listed = [](const json& list) { return with(eight_layers(), {{"layer_types", list}}); };
  EXPECT_TRUE(has(answer_of(listed(types(3, 1, 2))).imported.scenario, "full_every: 4  # layer_types, file"));
  EXPECT_FALSE(has(answer_of(listed(types(0, 8, 1))).imported.scenario, "attention_window"));
  const std::string all = answer_of(listed(types(8, 0, 1))).imported.scenario;
  EXPECT_TRUE(has(all, "attention_window: 1024") && !has(all, "full_every")) << all;
  EXPECT_TRUE(has(not_run(listed(types(3, 5, 1))), "windows on layers in no period (layer_types, file"));
  json linear = types(3, 1, 2);
  linear[0] = "linear_attention";
  EXPECT_TRUE(has(not_run(listed(linear)), "layers of linear_attention"));
  const std::vector<std::string> problems = answer_of(listed(types(3, 1, 3))).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(has(problems[0], "layer_types has 12 layers, the model 8")) << problems[0];
}

TEST(HuggingFaceLayers, before_the_first_with_a_window_are_not_run_as_if_they_had_one) {
  const auto full = [](int layers) { return with(eight_layers(), {{"max_window_layers", layers}}); };
  EXPECT_TRUE(has(answer_of(full(0)).imported.scenario, "attention_window: 1024"));
  EXPECT_FALSE(has(answer_of(full(8)).imported.scenario, "attention_window"));
  EXPECT_TRUE(has(not_run(full(4)), "(max_window_layers, file"));
  EXPECT_EQ(not_run(with(full(4), {{"use_sliding_window", false}})), "");
  json by_default = full(4);
  by_default.erase("use_sliding_window");
  EXPECT_FALSE(has(answer_of(by_default).imported.scenario, "attention_window")) << "as Qwen2Config has it";
}

TEST(HuggingFaceLayers, without_experts_are_written_or_not_run) {
  const auto dense = [](const json& layers) { return with(qwen3_30b(), {{"mlp_only_layers", layers}}); };
  EXPECT_TRUE(has(answer_of(dense({0, 1})).imported.scenario, "dense_layers: 2"));
  EXPECT_TRUE(has(not_run(dense({5, 7})), "experts on layers of no period"));
  EXPECT_TRUE(has(answer_of(with(qwen3_30b(), {{"decoder_sparse_step", 2}})).imported.scenario, "every: 2"));
  EXPECT_TRUE(
      has(answer_of(with(deepseek_v2_lite(), {{"moe_layer_freq", 2}})).imported.scenario, "every: 2"));
  EXPECT_TRUE(has(not_run(with(deepseek_v2_lite(), {{"moe_layer_freq", 2}, {"first_k_dense_replace", 0}})),
                  "experts on layers of no period"))
      << "that begin with experts";
  json without = with(qwen3_30b(), {{"num_experts_per_tok", 4}});
  without.erase("intermediate_size");
  EXPECT_TRUE(has(answer_of(without).imported.scenario, "ffn: 768")) << "that no layer has";
  without["mlp_only_layers"] = {0};
  EXPECT_EQ(answer_of(without).imported.needs.size(), 1u);
}

}  // namespace
}  // namespace podsim::hugging_face_layers_test
