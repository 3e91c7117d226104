// podsim import --plan: the best layout of a model that a file describes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim::import_plan_test {
namespace {

// A Llama of 1.1 billion parameters that the catalogue does not have.
std::string small_model() {
  return temporary_file("small.json",
                        R"({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,)"
                        R"( "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632,)"
                        R"( "vocab_size": 64000, "max_position_embeddings": 4096})");
}

TEST(ImportPlan, finds_the_layout_of_a_configuration_and_tells_what_it_assumed) {
  const std::string best = temporary_file("best.textproto", "");
  const CommandResult result =
      podsim_command("import " + small_model() + " --chips 8 --chip h100 --plan --out " + best);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"Not in the file:", "sequence_tokens: 4096, assumed", "global_batch_sequences: 16",
        "stack: \"generic_megatron\", assumed", "Proof: ", "No layout is faster by more than"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  const CommandResult run = podsim_command("run " + best + " --format json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(ImportPlan, takes_what_is_stated_and_searches_where_it_is_told) {
  const CommandResult result = podsim_command(
      "import " + small_model() +
      " --chips 8 --chip h100 --plan --format json --set sequence_tokens=2048 --set global_batch_sequences=64"
      " --set space.tensor=4");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.find("\"tensor\": 8"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(result.out).empty());
}

TEST(ImportPlan, keeps_the_software_that_the_launcher_names) {
  const std::string file = temporary_file("titan.toml",
                                          "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
                                          "local_batch_size = 1\nseq_len = 8192\n[parallelism]\n"
                                          "tensor_parallel_degree = 2\n[compile]\nenable = true\n");
  const std::string best = temporary_file("best_titan.textproto", "");
  const CommandResult result = podsim_command("import " + file + " --chips 16 --chip h100 --plan --out " +
                                              best + " --set space.tensor=2");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.find("generic_megatron"), std::string::npos) << result.out;
  EXPECT_NE(
      podsim_command("import " + file + " --chips 16 --chip h100 --out -").out.find("stack: \"torchtitan\""),
      std::string::npos);
  EXPECT_NE(read_file(best).find("stack: \"torchtitan\""), std::string::npos);
}

TEST(ImportPlan, asks_for_the_machine_and_does_not_guess_it) {
  const CommandResult result = podsim_command("import " + small_model() + " --plan");
  EXPECT_EQ(result.exit_code, 2);
  for (const char* part : {"needs chip (--chip)", "needs chips (--chips)"})
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
}

}  // namespace
}  // namespace podsim::import_plan_test
