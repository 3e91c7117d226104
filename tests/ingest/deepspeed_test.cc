// Configurations of DeepSpeed: what overlaps, and in which formats.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/launchers.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::deepspeed_test {
namespace {

using nlohmann::json;
using testing::LauncherAnswer;

// On 64 H100.
LauncherAnswer read(const std::string& settings, const std::string& stack = "") {
  Stated stated = testing::chips(64);
  stated.chip = "h100", stated.fabric = "dgx_h100", stated.model = "llama3_8b", stated.stack = stack;
  stated.settings = {{"sequence_tokens", "4096"}};
  return testing::answer_of(import_deepspeed, R"({"train_micro_batch_size_per_gpu": 1, )" + settings + "}",
                            stated);
}

bool overlaps(const LauncherAnswer& answer) {
  const LoadResult loaded = load_scenario("s", answer.imported.scenario, Catalog(), {});
  EXPECT_TRUE(loaded.spec) << answer.imported.scenario;
  return loaded.spec && loaded.spec->job.stack.gradients_overlapped;
}

TEST(DeepSpeedSoftware, overlaps_gradients_where_the_file_says_so) {
  const auto zero = [](const std::string& stage, const std::string& overlap, const std::string& stack = "") {
    return read(R"("bf16": {"enabled": true}, "zero_optimization": {"stage": )" + stage + overlap + "}",
                stack);
  };
  const std::string yes = R"(, "overlap_comm": true)", no = R"(, "overlap_comm": false)";
  for (const char* stage : {"1", "2"}) {
    EXPECT_TRUE(overlaps(zero(stage, yes))) << stage;
    EXPECT_FALSE(overlaps(zero(stage, no))) << stage;
    EXPECT_FALSE(overlaps(zero(stage, ""))) << stage << ": false by default";
    EXPECT_TRUE(overlaps(zero(stage, no, "generic_fsdp"))) << "a stack that was chosen";
  }
  EXPECT_TRUE(overlaps(zero("3", ""))) << "true by default";
}

TEST(DeepSpeedPrecision, of_apex_is_asked_for) {
  const std::string amp = R"("amp": {"enabled": true})";
  const json figures = json::parse(read(amp).figures);
  EXPECT_EQ(figures["precision"], nullptr);
  EXPECT_EQ(figures["needs"], json({"precision: amp.enabled has products in fp16"}));
  EXPECT_EQ(read(amp).imported.scenario, "");
  EXPECT_EQ(json::parse(read(amp + R"(, "fp16": {"enabled": true})").figures)["precision"], "fp16");
  EXPECT_EQ(json::parse(read(R"("amp": {"enabled": false})").figures)["precision"], "fp32");
}

}  // namespace
}  // namespace podsim::deepspeed_test
