// podsim import --run and --out of a launcher's configuration.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim::import_scenario_test {
namespace {

const char* const kOn = " --chips 8 --chip h100 --fabric dgx_h100 ";

std::string script(const std::string& name, const std::string& arguments) {
  return temporary_file(name,
                        "python pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
                        "--seq-length 2048 --micro-batch-size 1 --global-batch-size 8 --vocab-size 32000 "
                        "--bf16 --overlap-grad-reduce --disable-bias-linear " +
                            arguments + "\n");
}

TEST(ImportScenario, tells_with_a_run_what_it_leaves_out_of_the_file) {
  const std::string odd = script("odd.sh", "--my-own-option 3 --add-qkv-bias");
  const CommandResult run = podsim_command("import " + odd + kOn + "--run");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* words : {"Not known to podsim, and left out here: my-own-option.",
                            "Not simulated: biases of queries, keys and values alone"})
    EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  EXPECT_NE(podsim_command("import " + odd + kOn + "--out -").out.find("# Not known to podsim"),
            std::string::npos);
  EXPECT_EQ(podsim_command("import " + script("plain.sh", "") + kOn + "--run").err, "");
}

TEST(ImportScenario, names_the_run_as_its_file_wherever_that_lies) {
  const auto name_of = [](const std::string& command) {
    return nlohmann::json::parse(podsim_command(command + " --format json").out)["scenario"];
  };
  const std::string from_file = "import " + script("train.v2.sh", "") + kOn + "--run";
  EXPECT_EQ(name_of(from_file), "train.v2");
  const std::string toml = "tests/fuzz/corpus/imports/llama3_8b.toml";
  EXPECT_EQ(name_of("import " + toml + " --chips 16 --chip h100 --run"), "llama3_8b");
  EXPECT_EQ(name_of("import - --as torchtitan --chips 16 --chip h100 --run < " + toml)
                .get<std::string>()
                .find("scenario (of"),
            std::string::npos);
}

}  // namespace
}  // namespace podsim::import_scenario_test
