// Recipes of NeMo and Megatron-Bridge that were saved as YAML: which section says what.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/launchers.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::saved_recipes_test {
namespace {

using nlohmann::json;
using testing::LauncherAnswer;

// Of NeMo 1 on 4 nodes with 8 GPUs, 4 of them for tensor parallelism: a global batch of 128, one in a
// microbatch.
LauncherAnswer nemo(const std::string& more, Stated stated = {}) {
  return testing::answer_of(
      import_megatron,
      "trainer:\n  devices: 8\n  num_nodes: 4\n  precision: bf16\n"
      "model:\n  micro_batch_size: 1\n  global_batch_size: 128\n  tensor_model_parallel_size: 4\n"
      "  encoder_seq_length: 4096\n  num_layers: 32\n  hidden_size: 4096\n  num_attention_heads: 32\n"
      "  sequence_parallel: true\n  vocab_size: 32000\n" +
          more,
      stated);
}

Stated on_h100() {
  Stated stated;
  stated.chip = "h100", stated.fabric = "dgx_h100";
  return stated;
}

json figures_of(const LauncherAnswer& answer) {
  EXPECT_TRUE(answer.problems.empty()) << (answer.problems.empty() ? "" : answer.problems.front());
  return json::parse(answer.figures);
}

TEST(SavedRecipes, have_the_batch_of_training_and_not_that_of_validation) {
  const std::string other = "    micro_batch_size: 4\n    global_batch_size: 256\n";
  const LauncherAnswer answer = nemo("  data:\n   validation_ds:\n" + other);
  const json batch = figures_of(answer)["batch"];
  EXPECT_EQ(batch["global_batch_sequences"], 128);
  EXPECT_EQ(batch["microbatch_sequences"], 1);
  EXPECT_EQ(batch["microbatches"], 128 / (4 * 8 / 4));
  EXPECT_TRUE(answer.imported.notes.empty()) << "which is no contradiction";
}

TEST(SavedRecipes, take_an_outer_section_and_tell_of_one_within_that_says_otherwise) {
  const LauncherAnswer answer =
      nemo("  data:\n   train_ds:\n    global_batch_size: 256\n    seed: 3\n  seed: 4\n");
  EXPECT_EQ(figures_of(answer)["batch"]["global_batch_sequences"], 128);
  ASSERT_EQ(answer.imported.notes.size(), 1u) << "nobody reads the seed";
  EXPECT_EQ(answer.imported.notes[0].find("file: model.global_batch_size is 128, which is taken; "
                                          "model.data.train_ds.global_batch_size is 256"),
            0u)
      << answer.imported.notes[0];
}

TEST(SavedRecipes, overlap_as_the_section_of_gradients_says_and_not_that_of_the_optimizer) {
  const auto parameters = [](const std::string& ddp, const std::string& optimizer) {
    return figures_of(testing::answer_of(
        import_megatron, "comm_overlap:\n  overlap_param_gather: null\nddp:\n  overlap_param_gather: " + ddp +
                             "\nmodel:\n  num_layers: 8\n  tensor_model_parallel_size: 1\noptimizer:\n  "
                             "overlap_param_gather: " +
                             optimizer + "\n"))["overlap"]["parameters"];
  };
  EXPECT_EQ(parameters("true", "false"), true);
  EXPECT_EQ(parameters("false", "true"), false);
  EXPECT_EQ(parameters("null", "true"), true) << "null says nothing";
}

TEST(SavedRecipes, refer_to_their_own_values) {
  const LauncherAnswer answer = nemo(
      "  max_position_embeddings: ${.encoder_seq_length}\n  data:\n    seq_length: "
      "${model.encoder_seq_length}\n"
      "    again: ${..num_layers}\n");
  const json figures = figures_of(answer);
  EXPECT_EQ(figures["sequence_tokens"], 4096);
  EXPECT_EQ(figures["model"]["learned_positions"], 4096);
  EXPECT_EQ(figures["needs"], json::array());
  EXPECT_TRUE(answer.imported.notes.empty());
  const json open = figures_of(nemo("  context_parallel_size: ${model.nothing}\n"));
  EXPECT_EQ(open["needs"], json({"context-parallel-size: ${model.nothing}"}));
  const json circle = figures_of(nemo("  context_parallel_size: ${.a}\n  a: ${.b}\n  b: ${.a}\n"));
  EXPECT_EQ(circle["needs"], json({"context-parallel-size: ${.a}"}));
}

TEST(SavedRecipes, of_nemo_overlap_by_their_own_names) {
  const std::string adam = "  optim:\n    name: distributed_fused_adam\n";
  const auto overlap = [](const std::string& more) { return figures_of(nemo(more))["overlap"]; };
  EXPECT_EQ(overlap(adam + "    overlap_param_sync: true\n  ub_tp_comm_overlap: true\n"),
            json({{"gradients", true}, {"parameters", true}, {"tensor", true}}));
  EXPECT_EQ(overlap(adam), json({{"gradients", true}, {"parameters", false}, {"tensor", false}}))
      << "its own default";
  EXPECT_EQ(overlap(adam + "    overlap_grad_sync: false\n")["gradients"], false);
  EXPECT_EQ(overlap("  optim:\n    name: fused_adam\n")["gradients"], false);
  const std::string scenario = nemo(adam, on_h100()).imported.scenario;
  EXPECT_NE(scenario, "");
  EXPECT_EQ(scenario.find("gradients_overlapped"), std::string::npos) << scenario;
  EXPECT_EQ(figures_of(nemo(adam + "    grad_sync_dtype: bf16\n"))["gradient_reduce"], "bf16");
  EXPECT_EQ(figures_of(nemo(adam + "    grad_sync_dtype: fp32\n"))["gradient_reduce"], "fp32");
}

}  // namespace
}  // namespace podsim::saved_recipes_test
