// A recorded step beside the prediction of its scenario, and as an anchor.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::import_beside_test {
namespace {

using nlohmann::json;

// Two steps, the second begins 10 ms after the first; each computes for 4.0 ms, and 1.2 ms of it is exposed.
const std::string kProfile = "tests/fuzz/corpus/kineto_profiles/synthetic_rank0.json";

TEST(ImportBeside, lays_the_recorded_step_beside_the_predicted_one) {
  const json run = json::parse(podsim_command("run " + small_scenario() + " --format json").out);
  const CommandResult result =
      podsim_command("import " + kProfile + " --beside " + small_scenario() + " --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json beside = json::parse(result.out);
  EXPECT_EQ(beside["steps"], 1);
  EXPECT_EQ(beside["recorded"]["step_s"], 0.01);
  EXPECT_EQ(beside["recorded"]["computing_s"], 0.004);
  EXPECT_NEAR(beside["recorded"]["exposed_s"].get<double>(), 0.0012, 1e-5);
  EXPECT_EQ(beside["predicted"]["step_s"], run["step_time_s"]);
  EXPECT_NEAR(beside["step_error"].get<double>(), run["step_time_s"].get<double>() / 0.01 - 1, 1e-9);
}

// What the profile itself becomes takes as long on the machine that it was recorded on.
TEST(ImportBeside, of_the_scenario_that_a_profile_becomes_is_near) {
  const std::string scenario = temporary_file("profile.textproto", "");
  const CommandResult written =
      podsim_command("import " + kProfile + " --chip h100 --fabric dgx_h100 --out " + scenario);
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const CommandResult result =
      podsim_command("import " + kProfile + " --beside " + scenario + " --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(std::abs(json::parse(result.out)["step_error"].get<double>()), 0.25);
}

TEST(ImportBeside, a_rank_that_is_made_slow_slows_the_step_down) {
  const std::string import =
      "import " + kProfile + " tests/fuzz/corpus/kineto_profiles/synthetic_rank1.json --run --format json";
  const json as_it_was = json::parse(podsim_command(import).out);
  const CommandResult slowed = podsim_command(import + " --slow 1=1.5");
  ASSERT_EQ(slowed.exit_code, 0) << slowed.err;
  EXPECT_GT(json::parse(slowed.out)["step_s"].get<double>(), as_it_was["step_s"].get<double>());
  EXPECT_EQ(podsim_command(import + " --slow 9=1.5").exit_code, 2);
  EXPECT_EQ(podsim_command(import + " --slow nic:1=0.5x").exit_code, 2);  // of which fabric?
  EXPECT_EQ(podsim_command(import + " --slow 1").exit_code, 2);
}

TEST(ImportBeside, needs_a_step_that_another_follows) {
  const std::string traces = "'tests/fuzz/corpus/chakra_traces/dp.*.et'";
  EXPECT_EQ(podsim_command("import " + traces + " --beside " + small_scenario()).exit_code, 2);
}

// The profile says that a step takes 10 ms.
TEST(ImportBeside, a_profile_anchors_as_the_time_of_its_step_does) {
  const std::string run = "run " + small_scenario() + " --format json";
  const CommandResult by_profile = podsim_command(run + " --anchor " + kProfile),
                      by_time = podsim_command(run + " --anchor-step-time 0.01");
  ASSERT_EQ(by_profile.exit_code, 0) << by_profile.err;
  ASSERT_EQ(by_time.exit_code, 0) << by_time.err;
  EXPECT_EQ(json::parse(by_profile.out)["step_time_s"], json::parse(by_time.out)["step_time_s"]);
  EXPECT_EQ(json::parse(by_profile.out)["step_time_band"], "anchored");
}

}  // namespace
}  // namespace podsim::import_beside_test
