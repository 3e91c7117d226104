// Configurations of models: their sizes, and the count of parameters that follows from them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/launchers.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::hugging_face_test {
namespace {

using nlohmann::json;

using testing::chips;
struct Answer {
  json figures;
  std::vector<std::string> problems;
  Imported imported;
};

Answer answer_of(const std::string& text, const Stated& stated = {}) {
  testing::LauncherAnswer answer = testing::answer_of(import_hugging_face, text, stated);
  return {json::parse(answer.figures), answer.problems, std::move(answer.imported)};
}

// Llama 3.2 1B: 1,235,814,400 in its checkpoint.
TEST(HuggingFace, counts_tied_parameters_once) {
  const Answer answer = answer_of(
      "{\"model_type\": \"llama\", \"hidden_size\": 2048, \"num_hidden_layers\": 16, "
      "\"num_attention_heads\": 32,"
      " \"num_key_value_heads\": 8, \"intermediate_size\": 8192, \"vocab_size\": 128256, \"head_dim\": 64,"
      " \"tie_word_embeddings\": true}");
  EXPECT_EQ(answer.figures["parameters"], 1235814400);
  EXPECT_EQ(answer.figures["catalogue"], "llama3_2_1b");
}

// Configurations of models that also see say some things twice.
TEST(HuggingFace, counts_what_is_said_within_and_without_as_known) {
  const Answer answer = answer_of(
      R"({"model_type": "llama4", "tie_word_embeddings": false, "text_config": {"model_type": "llama4_text",
          "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
          "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_local_experts": 16,
          "num_experts_per_tok": 1, "interleave_moe_layer_step": 1, "vocab_size": 202048,
          "tie_word_embeddings": false}})");
  EXPECT_EQ(answer.figures["parameters"], 107'769'861'120);
  EXPECT_TRUE(answer.imported.accounts.front().unknown.empty());
}

// Qwen2.5 7B, whose queries, keys and values have biases that its configuration does not name: 7,615,616,512.
TEST(HuggingFace, knows_biases_by_the_type_of_model) {
  const Answer answer = answer_of(
      "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, \"num_hidden_layers\": 28, "
      "\"num_attention_heads\": 28,"
      " \"num_key_value_heads\": 4, \"intermediate_size\": 18944, \"vocab_size\": 152064,"
      " \"sliding_window\": 131072, \"use_sliding_window\": false, \"tie_word_embeddings\": false}");
  EXPECT_EQ(answer.figures["parameters"], 7615616512);
  EXPECT_EQ(answer.figures["model"]["attention_window"], nullptr);
  EXPECT_EQ(answer.figures["catalogue"], "qwen2_5_7b");
}

// 62 layers of attention, 256 experts and their router, with a norm over all queries: 228.7 billion.
TEST(HuggingFace, counts_experts_whose_router_is_corrected) {
  const json read = answer_of(
                        R"({"model_type": "minimax_m2", "hidden_size": 3072, "num_hidden_layers": 62,
      "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 1536, "vocab_size": 200064,
      "num_local_experts": 256, "num_experts_per_tok": 8, "tie_word_embeddings": false})")
                        .figures;
  const std::int64_t attention = 2 * 3072 * 6144 + 2 * 3072 * 1024 + 6144 + 1024;
  const std::int64_t layer = attention + 2 * 3072 + 256LL * (3 * 3072 * 1536 + 3072 + 1);
  EXPECT_EQ(read["parameters"], 2LL * 200064 * 3072 + 3072 + 62 * layer);
}

// The parameters that are published with each.
TEST(HuggingFace, counts_models_of_older_and_other_architectures) {
  struct Case {
    const char* config;
    std::int64_t parameters;
  };
  for (
      const auto& [config, parameters] : std::vector<Case>{
          {R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_inner": null, "n_layer": 28,
                "vocab_size": 50400, "tie_word_embeddings": false})",
           6050882784},
          {R"({"model_type": "gpt_neo", "hidden_size": 2048, "intermediate_size": null, "num_heads": 16,
                "num_layers": 24, "max_position_embeddings": 2048, "vocab_size": 50257})",
           1315575808},
          {R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
                "multi_query": true, "parallel_attn": true, "new_decoder_architecture": false, "bias": false,
                "vocab_size": 65024})",
           6921720704},
          {R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60,
                "num_attention_heads": 128, "num_kv_heads": 8, "multi_query": true, "parallel_attn": true,
                "new_decoder_architecture": true, "bias": false, "vocab_size": 65024})",
           41303293952},
          {R"({"model_type": "bloom", "hidden_size": 1024, "n_layer": 24, "n_head": 16, "vocab_size": 250880})",
           559214592},
          {R"({"model_type": "olmo", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
                "num_attention_heads": 32, "vocab_size": 50304, "clip_qkv": null, "tie_word_embeddings": false})",
           6888095744},
          {R"({"model_type": "cohere", "hidden_size": 12288, "intermediate_size": 33792,
                "num_hidden_layers": 64, "num_attention_heads": 96, "num_key_value_heads": 8,
                "use_qk_norm": true, "vocab_size": 256000})",
           103810674688},
          {R"({"model_type": "phimoe", "hidden_size": 4096, "intermediate_size": 6400, "num_hidden_layers": 32,
                "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 16,
                "num_experts_per_tok": 2, "attention_bias": true, "lm_head_bias": true, "vocab_size": 32064,
                "tie_word_embeddings": false})",
           41873153344},
          {R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352,
                "attn_config": {"kv_n_heads": 8}, "tie_word_embeddings": false,
                "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})",
           131596523520}}) {
    const Answer answer = answer_of(config);
    EXPECT_EQ(answer.figures["parameters"], parameters) << config;
  }
}

// A norm has weights and offsets for each of the 64 features, on each of 2 layers.
TEST(HuggingFace, counts_one_norm_where_what_runs_beside_each_other_has_one) {
  const auto count = [](const std::string& type, const std::string& more) {
    return answer_of(R"({"model_type": ")" + type + R"(", "hidden_size": 64, "num_hidden_layers": 2,
                        "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100)" +
                     more + "}")
        .figures["parameters"]
        .get<std::int64_t>();
  };
  EXPECT_EQ(count("stablelm", "") - count("stablelm", R"(, "use_parallel_residual": true)"), 2 * 2 * 64);
  const std::string own = R"(, "new_decoder_architecture": true, "num_kv_heads": 4)";
  EXPECT_EQ(count("falcon", own) - count("falcon", own + R"(, "num_ln_in_parallel_attn": 1)"), 2 * 2 * 64);
}

TEST(HuggingFace, reads_the_width_of_bloom_by_its_older_name) {
  const Answer answer = answer_of(
      R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "n_head": 16, "vocab_size": 250880})");
  EXPECT_EQ(answer.figures["parameters"], 559214592);
}

TEST(HuggingFace, makes_no_scenario_of_layers_without_attention) {
  Stated stated = chips(8);
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  stated.stack = "generic_fsdp";
  stated.settings = {{"sequence_tokens", "4096"}, {"global_batch_sequences", "8"}};
  const std::string sizes =
      R"("hidden_size": 2048, "intermediate_size": 5120, "num_hidden_layers": 8, "num_attention_heads": 16,
         "vocab_size": 32000, "hidden_act": "silu", "num_key_value_heads": 4, "tie_word_embeddings": false)";
  const auto missing = [&](const std::string& more) {
    return answer_of(R"({"model_type": "some", )" + sizes + more + "}", stated).imported.needs_to_run.size();
  };
  EXPECT_EQ(missing(""), 0u);
  EXPECT_EQ(missing(R"(, "full_attention_interval": 4)"), 1u);
  EXPECT_EQ(missing(R"(, "mamba_num_heads": 128)"), 1u);
}

TEST(HuggingFace, does_not_count_a_model_of_a_type_that_it_does_not_know) {
  const Answer answer = answer_of(
      "{\"model_type\": \"tomorrow\", \"hidden_size\": 64, "
      "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
      " \"intermediate_size\": 128, \"vocab_size\": 100}");
  EXPECT_EQ(answer.figures["parameters"], nullptr);
  EXPECT_EQ(answer.figures["model"]["layers"], 2);
}

}  // namespace
}  // namespace podsim::hugging_face_test
