// Settings of a launcher's configuration that are nearly those that are meant, and those that nobody knows.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ingest/launchers/launchers.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::misspelt_settings_test {
namespace {

using testing::answer_of;
using testing::chips;

TEST(LauncherSettings, refuse_a_setting_that_is_another_but_for_one_letter) {
  for (const auto& [settings, meant] : {
           std::pair(R"({"train_batch_size": 8, "train_micro_batch_size_per_gpv": 2})",
                     "train_micro_batch_size_per_gpu"),
           std::pair(R"({"train_batch_size": 8, "zero_optimization": {"stge": 3}})",
                     "zero_optimization.stage"),
           std::pair(R"({"train_batch_size": 8, "zero_optimization": {"staage": 3}})",
                     "zero_optimization.stage"),
           std::pair(R"({"train_batch_size": 8, "zero_optimization": {"satge": 3}})",
                     "zero_optimization.stage"),
       }) {
    const testing::LauncherAnswer answer = answer_of(import_deepspeed, settings);
    ASSERT_EQ(answer.problems.size(), 1u) << settings;
    EXPECT_NE(answer.problems[0].find("did you mean " + std::string(meant) + "?"), std::string::npos)
        << answer.problems[0];
  }
}

TEST(LauncherSettings, count_what_a_part_of_deepspeed_does_not_know_as_unknown) {
  const testing::LauncherAnswer answer = answer_of(
      import_deepspeed,
      R"({"train_batch_size": 8, "zero_optimization": {"stage": 1, "sharding": 3, "sub_group_size": 1e9}})",
      chips(8));
  ASSERT_TRUE(answer.problems.empty());
  EXPECT_NE(answer.imported.text.find("zero_optimization.sharding"), std::string::npos)
      << answer.imported.text;
  EXPECT_EQ(answer.imported.text.find("zero_optimization.sub_group_size"), std::string::npos)
      << answer.imported.text;
}

// A file may say what changes nothing here; whoever states it on the command line expects a change.
TEST(LauncherSettings, refuse_a_stated_one_that_is_passed_over_in_a_file) {
  const auto problem = [](decltype(&import_megatron) read, const std::string& text, const char* name) {
    Stated stated = chips(8);
    stated.settings = {{name, "4"}};
    const auto problems = answer_of(read, text, stated).problems;
    return problems.size() == 1 ? problems.front() : "";
  };
  const std::string arguments =
      "pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
      "--tensor-model-parallel-size "
      "1 ";
  EXPECT_TRUE(answer_of(import_megatron, arguments + "--lr 4\n", chips(8)).problems.empty());
  EXPECT_NE(problem(import_megatron, arguments + "\n", "lr").find("no setting lr is read here"),
            std::string::npos);
  EXPECT_NE(problem(import_torchtitan, "[parallelism]\ntensor_parallel_degree = 1\n", "optimizer.lr")
                .find("of a file it is passed over: training schedule and optimizer"),
            std::string::npos);
  EXPECT_NE(problem(import_maxtext, "python3 -m MaxText.train base.yml per_device_batch_size=1\n", "steps"),
            "");
  EXPECT_NE(problem(import_deepspeed, R"({"train_batch_size": 8})", "gradient_clipping"), "");
  EXPECT_NE(problem(import_hugging_face,
                    R"({"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8,)"
                    R"( "num_attention_heads": 8, "intermediate_size": 4096, "vocab_size": 32000})",
                    "rope_theta"),
            "");
}

}  // namespace
}  // namespace podsim::misspelt_settings_test
