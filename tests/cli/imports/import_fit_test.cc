// podsim import --fit: measured collectives as the channel of a fabric.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim::import_fit_test {
namespace {

const std::string kMeasured = "tests/fuzz/corpus/nccl_tests/all_reduce_8.txt";

CommandResult fitted(const std::string& options) {
  return podsim_command("import " + kMeasured + " --fit " + options);
}

TEST(ImportFit, brings_predictions_near_to_what_was_measured) {
  const CommandResult result = fitted("--fabric dgx_h100 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["ranks"], 8);
  EXPECT_EQ(json["channel"]["collective"], "all-reduce");
  EXPECT_EQ(json["row"].size(), 8u);
  EXPECT_LT(json["median_error_after"].get<double>(), 0.05);
  EXPECT_LT(json["median_error_after"].get<double>(), json["median_error_before"].get<double>());
}

TEST(ImportFit, writes_a_block_that_a_scenario_takes) {
  const std::string block = temporary_file("fitted.textproto", "");
  ASSERT_EQ(fitted("--fabric dgx_h100 --out " + block).exit_code, 0);
  const std::string text = podsim_command("import " + kMeasured + " --fit --fabric dgx_h100 --out -").out;
  const std::string job =
      R"(job { model: "llama3_8b" stack: "torchtitan" mesh { name: "fsdp" size: 8 } sharding: "fsdp"
        global_batch_sequences: 8 sequence_tokens: 8192 })";
  const std::size_t cluster = text.find("cluster {");
  ASSERT_NE(cluster, std::string::npos) << text;
  const std::string whole =
      text.substr(0, cluster + 9) + " chip: \"h100\" chips: 8" + text.substr(cluster + 9) + job;
  const CommandResult run = podsim_command("run " + temporary_file("with_channel.textproto", whole));
  EXPECT_EQ(run.exit_code, 0) << run.err << whole;
}

TEST(ImportFit, says_what_is_missing) {
  EXPECT_NE(podsim_command("import tests/fuzz/corpus/nccl_tests/launcher.txt --fit --fabric dgx_h100")
                .err.find("--set collective=all-gather"),
            std::string::npos);
  EXPECT_NE(podsim_command("import tests/fuzz/corpus/nccl_tests/two_hosts.txt --fit --fabric dgx_h100")
                .err.find("at least 4 sizes"),
            std::string::npos);
  EXPECT_EQ(fitted("--fabric v5p_pod").exit_code, 2);
  EXPECT_EQ(fitted("--fabric dgx_h100 --chips 9").exit_code, 2);
}

}  // namespace
}  // namespace podsim::import_fit_test
