// podsim import --run: recorded steps of several ranks on a fabric.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"
#include "tests/ingest/chakra_bytes.h"

namespace podsim::import_step_test {
namespace {

using namespace podsim::testing;
const std::string kTraces = "tests/fuzz/corpus/chakra_traces/";

CommandResult imported(const std::string& files, const std::string& options) {
  return podsim_command("import " + files + " " + options);
}

// A pattern in quotes is expanded by podsim.
TEST(ImportStep, names_the_slow_rank_and_what_it_costs) {
  const std::string files = "'" + kTraces + "tpdp.*.et' " + kTraces + "comm_group.json";
  const CommandResult result = imported(files, "--run --fabric dgx_h100 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["chips"], 4);
  EXPECT_EQ(json["culprit"]["rank"], 3);
  EXPECT_EQ(json["culprit"]["slowness"], 1.5);
  EXPECT_EQ(json["rank"][3]["computing_s"], 0.01095);
  EXPECT_EQ(json["rank"][3]["waiting_s"], 0.0);
  EXPECT_GT(json["rank"][0]["waiting_s"], 0.003);
  EXPECT_EQ(json["critical_path"]["computing_s"], 0.01095);
  const double repaired = json["step_s"].get<double>() - json["culprit"]["delay_s"].get<double>();
  EXPECT_NEAR(repaired, 0.0073 + json["critical_path"]["communicating_s"].get<double>(), 1e-9);
}

TEST(ImportStep, runs_on_another_fabric_by_the_same_command) {
  const CommandResult torus = imported("'" + kTraces + "dp.*.et'", "--run --fabric v5p_pod --shape 2x2x1");
  EXPECT_EQ(torus.exit_code, 0) << torus.err;
  EXPECT_NE(torus.out.find("on v5p_pod, 4 chips: the step takes"), std::string::npos) << torus.out;
}

// 4 chunks of 1.5 MiB: 10 + 6 (floor(500 + 29,296.875) + 10) + 9 floor(983.04) ns each.
// The all-reduces of dp are as slow as their slowest member: 16 chips in two hosts meet by their NICs.
TEST(ImportStep, with_a_slow_nic_takes_longer_and_tells_the_step_without_it) {
  const std::string dp = kTraces + "dp.0.et", on = "--run --fabric dgx_h100 --chips 16 --format json ";
  const auto whole = nlohmann::json::parse(imported(dp, on).out);
  const auto slow = nlohmann::json::parse(imported(dp, on + "--slow nic:3=0.25x").out);
  EXPECT_GT(slow["step_s"], whole["step_s"]);
  EXPECT_EQ(slow["with_whole_links_s"], whole["step_s"]);
  EXPECT_EQ(slow["slow_links"][0]["chip"], 3);
  EXPECT_EQ(whole["with_whole_links_s"], nullptr);
  for (const char* wrong : {"ici:3=0.5x", "nic:16=0.5x", "nic:3=0", "nic:3", "wire:3=0.5x"})
    EXPECT_EQ(imported(dp, on + "--slow " + wrong).exit_code, 2) << wrong;
}

TEST(ImportStep, can_be_held_against_the_ring_of_astra_sim) {
  const CommandResult result =
      imported("'" + kTraces + "dp.*.et'", "--run --astra-ring 50,500 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::int64_t t = 4 * (10 + 6 * (29'796 + 10) + 9 * 983) * 1'000, us = 1'000'000;
  EXPECT_EQ(nlohmann::json::parse(result.out)["step_ps"], (6 * 500 + 6 * 1100 + 300) * us + t);
}

TEST(ImportStep, is_refused_where_something_is_missing) {
  const std::string dp = "'" + kTraces + "dp.*.et'";
  EXPECT_NE(imported(dp, "--run").err.find("needs a fabric to run on"), std::string::npos);
  const CommandResult few = imported(dp, "--run --fabric dgx_h100 --chips 2");
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_NE(few.err.find("rank 3 needs a chip, and the fabric has 2"), std::string::npos) << few.err;
  const CommandResult other = imported("tests/fuzz/corpus/nccl_tests/two_hosts.txt", "--run");
  EXPECT_EQ(other.exit_code, 2);
}

TEST(ImportStep, times_computations_by_a_chip_that_is_named_or_that_the_fabric_has) {
  const std::string file = ::testing::TempDir() + "work.0.et",
                    roofline = "--run --format json --compute roofline ";
  std::ofstream(file, std::ios::binary)
      << kMetadata + node({0, kComputation, 0, {}, {}, attribute("num_ops", 9, 1ull << 40)});
  const CommandResult missing = imported(file, roofline + "--astra-ring 50,500");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("needs a chip to time computations by (--chip"), std::string::npos)
      << missing.err;
  const auto of_fabric = imported(file, roofline + "--fabric dgx_h200"),
             of_chip = imported(file, roofline + "--chip h200");
  ASSERT_EQ(of_fabric.exit_code, 0) << of_fabric.err;
  ASSERT_EQ(of_chip.exit_code, 0) << of_chip.err;
  const auto step = nlohmann::json::parse(of_fabric.out)["step_ps"];
  EXPECT_GT(step, 0);
  EXPECT_EQ(nlohmann::json::parse(of_chip.out)["step_ps"], step);
  const auto recorded = nlohmann::json::parse(imported(file, "--run --format json --fabric dgx_h200").out);
  EXPECT_EQ(recorded["step_ps"], 0);
  EXPECT_EQ(recorded["notes"].size(), 1u);
}

// Its permutes among 64 devices do not say who sends to whom; the fabric is named after its chip.
TEST(ImportStep, of_a_module_that_podsim_partitions_runs_on_a_mesh_of_another_shape) {
  const CommandResult result =
      imported("tests/ingest/modules/loss_fsdp_tp.mlir", "--mesh x=16,y=8 --fabric dgx_h100 --run");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("on 128 h100, dgx_h100"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("collective-permute"), std::string::npos) << result.out;
}

TEST(ImportStep, says_that_a_chip_times_nothing_recorded_and_refuses_it_where_nothing_runs) {
  const std::string dp = "'" + kTraces + "dp.*.et'";
  const CommandResult recorded = imported(dp, "--run --fabric dgx_h100 --chip h100");
  EXPECT_EQ(recorded.exit_code, 0);
  EXPECT_NE(recorded.err.find("computations last as recorded"), std::string::npos) << recorded.err;
  EXPECT_EQ(imported(dp, "--chip h100").exit_code, 2);
  EXPECT_EQ(imported(dp, "--compute roofline --chip h100").exit_code, 2);
  const CommandResult module = imported("tests/fuzz/corpus/hlo_modules/step_of_8.hlo",
                                        "--run --chip h100 --fabric dgx_h100 --compute roofline");
  EXPECT_EQ(module.exit_code, 2);
  EXPECT_NE(module.err.find("--compute says nothing about"), std::string::npos) << module.err;
}

}  // namespace
}  // namespace podsim::import_step_test
