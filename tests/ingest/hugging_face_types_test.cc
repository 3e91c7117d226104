// What the type of a model says of its shape, and what is asked for where the type is not known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/launchers.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::hugging_face_types_test {
namespace {

using nlohmann::json;
using testing::LauncherAnswer;

LauncherAnswer answer_of(const json& config, const std::string& model = "") {
  Stated stated = testing::chips(8);
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  stated.stack = "generic_fsdp";
  stated.model = model;
  stated.settings = {{"sequence_tokens", "4096"}, {"global_batch_sequences", "8"}};
  return testing::answer_of(import_hugging_face, config.dump(), stated);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// bigcode/starcoder: 15,517,456,384 in its checkpoint.
TEST(HuggingFaceTypes, share_one_head_of_keys_where_queries_do) {
  const json starcoder = {{"model_type", "gpt_bigcode"},
                          {"n_embd", 6144},
                          {"n_head", 48},
                          {"n_inner", 24576},
                          {"n_layer", 40},
                          {"n_positions", 8192},
                          {"vocab_size", 49152},
                          {"multi_query", true},
                          {"activation_function", "gelu"}};
  const LauncherAnswer answer = answer_of(starcoder);
  const json figures = json::parse(answer.figures);
  EXPECT_EQ(figures["parameters"], 15'517'456'384);
  EXPECT_EQ(figures["model"]["kv_heads"], 1);
  EXPECT_EQ(figures["model"]["gated_ffn"], false);
  const std::string& scenario = answer.imported.scenario;
  EXPECT_TRUE(has(scenario, "kv_heads: 1") && has(scenario, "tied_embedding: true")) << scenario;
  EXPECT_FALSE(has(scenario, "gated_ffn")) << scenario;
}

// mosaicml/mpt-7b: 6,649,286,656.
TEST(HuggingFaceTypes, of_mpt_have_four_times_the_width_and_no_biases) {
  const LauncherAnswer answer = answer_of({{"model_type", "mpt"},
                                           {"d_model", 4096},
                                           {"n_heads", 32},
                                           {"n_layers", 32},
                                           {"expansion_ratio", 4},
                                           {"max_seq_len", 2048},
                                           {"vocab_size", 50432}});
  EXPECT_EQ(json::parse(answer.figures)["parameters"], 6'649'286'656);
}

json of_no_known_type() {
  return {{"model_type", "tomorrow"}, {"hidden_size", 2048},       {"intermediate_size", 8192},
          {"num_hidden_layers", 8},   {"num_attention_heads", 16}, {"num_key_value_heads", 4},
          {"vocab_size", 32000},      {"hidden_act", "silu"},      {"tie_word_embeddings", false}};
}

TEST(HuggingFaceTypes, that_are_not_known_are_asked_for_what_decides_their_shape) {
  EXPECT_TRUE(answer_of(of_no_known_type()).imported.needs_to_run.empty());
  for (const char* key : {"hidden_act", "num_key_value_heads", "tie_word_embeddings"}) {
    json without = of_no_known_type();
    without.erase(key);
    const LauncherAnswer answer = answer_of(without);
    ASSERT_EQ(answer.imported.needs_to_run.size(), 1u) << key;
    EXPECT_EQ(answer.imported.needs_to_run[0].what, key);
    EXPECT_EQ(answer.imported.scenario, "") << key;
  }
}

TEST(HuggingFaceTypes, that_are_not_known_gate_by_any_name_of_their_activation) {
  for (const char* key : {"hidden_act", "hidden_activation", "activation_function"}) {
    json config = of_no_known_type();
    config.erase("hidden_act");
    for (const auto& [activation, gated] :
         std::vector<std::pair<const char*, json>>{{"silu", true},
                                                   {"geglu", true},
                                                   {"gelu", false},
                                                   {"relu2", false},
                                                   {"gelu_pytorch_tanh", nullptr}}) {
      config[key] = activation;
      const LauncherAnswer answer = answer_of(config);
      EXPECT_EQ(json::parse(answer.figures)["model"]["gated_ffn"], gated) << key << " " << activation;
      EXPECT_EQ(answer.imported.scenario.empty(), gated.is_null()) << key << " " << activation;
    }
  }
}

TEST(HuggingFaceTypes, of_encoders_are_not_run_as_decoders_unless_a_model_is_named) {
  json bert = of_no_known_type();
  bert["model_type"] = "bert";
  EXPECT_EQ(answer_of(bert).imported.scenario, "");
  EXPECT_TRUE(has(answer_of(bert, "bert_large").imported.scenario, "model: \"bert_large\"  # --model"));
  json t5 = of_no_known_type();
  t5["is_encoder_decoder"] = true;
  EXPECT_EQ(answer_of(t5).imported.scenario, "");
}

// configuration_deepseek_v3.py: four groups of eight, where the file says nothing.
TEST(HuggingFaceTypes, of_deepseek_choose_groups_of_experts) {
  const json v3 = {
      {"model_type", "deepseek_v3"}, {"hidden_size", 7168},         {"intermediate_size", 18432},
      {"num_hidden_layers", 61},     {"num_attention_heads", 128},  {"moe_intermediate_size", 2048},
      {"n_routed_experts", 256},     {"n_shared_experts", 1},       {"num_experts_per_tok", 8},
      {"first_k_dense_replace", 3},  {"q_lora_rank", 1536},         {"kv_lora_rank", 512},
      {"qk_rope_head_dim", 64},      {"qk_nope_head_dim", 128},     {"v_head_dim", 128},
      {"vocab_size", 129280},        {"tie_word_embeddings", false}};
  const auto catalogue = [](const json& config) {
    return json::parse(answer_of(config).figures)["catalogue"];
  };
  EXPECT_EQ(catalogue(v3), "deepseek_v3");
  json others = v3;
  others["topk_group"] = 2;
  EXPECT_EQ(catalogue(others), nullptr);
  EXPECT_TRUE(has(answer_of(others).imported.scenario, "most_groups: 2"));
  others = v3;
  others["num_nextn_predict_layers"] = 1;
  EXPECT_EQ(catalogue(others), "deepseek_v3_mtp");
}

}  // namespace
}  // namespace podsim::hugging_face_types_test
