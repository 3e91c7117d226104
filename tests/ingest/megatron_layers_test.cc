// Layers of Megatron-LM beside those of a plain transformer: windows are read, others are told.
#include <gtest/gtest.h>

#include "ingest/file_kind.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::megatron_layers_test {
namespace {

Stated on_64_h100() {
  Stated stated = testing::chips(64);
  stated.chip = "h100", stated.fabric = "dgx_h100";
  return stated;
}

std::string script(const std::string& arguments) {
  return "pretrain_gpt.py --num-layers 8 --hidden-size 4096 --num-attention-heads 32 --vocab-size 128256 "
         "--seq-length 4096 --micro-batch-size 1 --global-batch-size 128 --bf16 --disable-bias-linear " +
         arguments + "\n";
}

Imported imported(const std::string& arguments, const Stated& stated = on_64_h100()) {
  return testing::answer_of(import_megatron, script(arguments), stated).imported;
}

Model model_of(const std::string& arguments) {
  const Imported answer = imported(arguments);
  const LoadResult loaded = load_scenario("job.textproto", answer.scenario, Catalog(), {});
  EXPECT_TRUE(loaded.spec) << answer.scenario
                           << (loaded.problems.empty() ? "" : format_problem(loaded.problems.front()));
  return loaded.spec ? loaded.spec->job.model : Model();
}

TEST(MegatronLayers, of_other_kinds_make_no_scenario_of_a_transformer) {
  for (const char* arguments :
       {"--is-hybrid-model", "--hybrid-override-pattern M-M-M*-M-", "--experimental-attention-variant dsa",
        "--linear-attention-freq 4", "--heterogeneous-layers-config-path layers.json",
        "--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec",
        "--window-size 127,0 --window-attn-skip-freq [1,1,0,1,0,1,1,1]"}) {
    const Imported answer = imported(arguments);
    EXPECT_EQ(answer.scenario, "") << arguments;
    ASSERT_EQ(answer.needs_to_run.size(), 1u) << arguments;
    EXPECT_EQ(answer.needs_to_run[0].what.find("a model without "), 0u) << answer.needs_to_run[0].what;
    EXPECT_EQ(answer.needs_to_run[0].option, "--model");
    Stated named = on_64_h100();
    named.model = "llama3_8b";
    EXPECT_NE(imported(arguments, named).scenario, "") << arguments;
  }
}

TEST(MegatronLayers, have_the_windows_that_arguments_give_them) {
  const auto windows = [](const std::string& arguments) {
    const Model model = model_of(arguments);
    return std::pair(model.attention_window, model.full_every);
  };
  EXPECT_EQ(windows(""), std::pair(0, 0));
  EXPECT_EQ(windows("--window-size 127,0"), std::pair(128, 0)) << "127 tokens back, and itself";
  EXPECT_EQ(windows("--window-size \"(127, 0)\" --window-attn-skip-freq 4"), std::pair(128, 4));
  EXPECT_EQ(windows("--window-size 127,0 --window-attn-skip-freq [1,1,1,0,1,1,1,0]"), std::pair(128, 4));
  EXPECT_EQ(windows("--window-size 127,0 --window-attn-skip-freq '([1]*8)'"), std::pair(128, 0));
  EXPECT_EQ(windows("--window-size 127,0 --window-attn-skip-freq 1"), std::pair(0, 0))
      << "every layer is full";
  EXPECT_EQ(windows("--window-size -1,-1"), std::pair(0, 0)) << "without end";
  EXPECT_EQ(testing::answer_of(import_megatron, script("--window-size far"), on_64_h100()).problems.size(),
            1u);
  EXPECT_EQ(imported("--window-size $WINDOW").needs.at(0).what, "window-size: $WINDOW");
}

TEST(MegatronLayers, that_cost_little_more_are_told) {
  const char* const told = "# Not simulated: biases of queries, keys and values alone";
  EXPECT_NE(imported("--add-qkv-bias").scenario.find(told), std::string::npos);
  EXPECT_EQ(imported("").scenario.find("Not simulated: biases"), std::string::npos);
  EXPECT_NE(imported("--spec my.layers mine")
                .scenario.find("# Not simulated: layers of one's own (--spec my.layers "
                               "mine)"),
            std::string::npos);
  EXPECT_EQ(imported("--spec megatron.core.models.gpt.gpt_layer_specs f").scenario.find("one's own"),
            std::string::npos);
}

// A saved recipe has every key of the configuration, whatever the model.
TEST(MegatronLayers, are_those_of_a_transformer_where_keys_say_nothing_of_others) {
  const std::string recipe =
      "model:\n  num_layers: 8\n  hidden_size: 1024\n  num_attention_heads: 8\n"
      "  tensor_model_parallel_size: 1\n  seq_length: 2048\n  vocab_size: 32000\n  bf16: true\n"
      "  micro_batch_size: 1\n  global_batch_size: 64\n";
  const std::string others =
      "  is_hybrid_model: false\n  hybrid_override_pattern: null\n  hybrid_attention_ratio: 0.0\n"
      "  mamba_state_dim: 128\n  linear_attention_freq: null\n  heterogeneous_block_specs: false\n"
      "  window_size: null\n  window_attn_skip_freq: null\n  experimental_attention_variant: null\n";
  const auto answer = testing::answer_of(import_megatron, recipe + others, on_64_h100());
  EXPECT_EQ(answer.imported.scenario,
            testing::answer_of(import_megatron, recipe, on_64_h100()).imported.scenario);
  EXPECT_NE(answer.imported.scenario, "");
  EXPECT_TRUE(answer.imported.accounts.at(0).unknown.empty());
}

TEST(Launchers, name_in_a_scenario_the_settings_that_nobody_knows) {
  std::vector<Problem> problems;
  std::vector<InputText> files = {{"job.sh", script("--my-own-layers 3 --another")}};
  const auto answer = import_files(*file_kind_named("megatron"), files, on_64_h100(), problems);
  ASSERT_TRUE(answer);
  EXPECT_NE(answer->scenario.find("\n# Not known to podsim, and left out here: another, my-own-layers.\n"),
            std::string::npos)
      << answer->scenario;
  EXPECT_EQ(answer->scenario.find("# From job.sh"), 0u);
  EXPECT_TRUE(load_scenario("job.textproto", answer->scenario, Catalog(), {}).spec);
}

}  // namespace
}  // namespace podsim::megatron_layers_test
