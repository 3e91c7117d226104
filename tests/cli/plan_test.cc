// podsim plan: clusters side by side, limits that are met or missed, and scenarios that other verbs
// reproduce.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim::plan_verb_test {
namespace {

const std::string kJob =
    "cluster { chip: \"h100\" chips: 16 fabric: \"dgx_h100\" }\n"
    "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\"\n"
    "  mesh { name: \"data\" size: 16 } sharding: \"data\" sharding: \"zero1\"\n"
    "  global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 }\n"
    "space { context: 1 pipeline: 1 microbatch: 1 recompute: none }\n";

TEST(PlanVerb, days_and_dollars_are_those_of_the_step_that_run_reports) {
  const std::string file = temporary_file("plan.textproto", kJob), best = temporary_file("row.textproto", "");
  const CommandResult planned = podsim_command("plan " + file +
                                               " --tokens 1e10 --chips 8,16 --chip h100,tpu_v5p --price-term "
                                               "on_demand,committed_1y --format json --out " +
                                               best);
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const auto answer = nlohmann::json::parse(planned.out);
  ASSERT_GE(answer["rows"].size(), 6U) << planned.out;
  const CommandResult run = podsim_command("run --format json " + best);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  const auto& first = answer["rows"][0];
  EXPECT_EQ(report["step_time_s"].get<double>(), first["step_time_s"].get<double>());
  EXPECT_NEAR(first["days"].get<double>(), 1e10 / report["tokens_per_s"].get<double>() / 86400,
              1e-9 * first["days"].get<double>());
  EXPECT_NEAR(first["cost_usd"].get<double>(), 1e4 * report["cost_usd_per_million_tokens"].get<double>(),
              1e-6 * first["cost_usd"].get<double>());
  for (std::size_t i = 1; i < answer["rows"].size(); ++i)
    EXPECT_LE(answer["rows"][i - 1]["cost_usd"].get<double>(), answer["rows"][i]["cost_usd"].get<double>());
}

TEST(PlanVerb, limit_that_nothing_meets_ends_with_3_and_the_nearest_miss) {
  const std::string file = temporary_file("plan.textproto", kJob);
  const CommandResult late = podsim_command("plan " + file + " --tokens 1e12 --chips 8,16 --days 0.5");
  EXPECT_EQ(late.exit_code, 3);
  EXPECT_NE(late.out.find("No choice meets the limits."), std::string::npos) << late.out;
  EXPECT_NE(late.out.find("chips would be in time"), std::string::npos) << late.out;
  EXPECT_NE(late.out.find("1  16 h100 on_demand  late by"), std::string::npos)
      << "more chips miss by less, whatever they cost" << late.out;
  const CommandResult in_time = podsim_command("plan " + file + " --tokens 1e9 --chips 8,16 --days 30");
  EXPECT_EQ(in_time.exit_code, 0) << in_time.out;
}

TEST(PlanVerb, spot_needs_to_know_how_often_chips_are_taken_away) {
  const CommandResult result = podsim_command("plan " + temporary_file("plan.textproto", kJob) +
                                              " --tokens 1e10 --chips 16 --price-term spot");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("need a reliability block"), std::string::npos) << result.err;
}

TEST(PlanVerb, with_a_reliability_block_counts_failures) {
  const std::string file = temporary_file(
      "weeks.textproto", kJob + "reliability { failures: \"llama3_16k_h100\" checkpoint { save_s: 30 } }\n");
  const auto days = [&](const std::string& path) {
    const CommandResult result = podsim_command("plan " + path + " --tokens 1e12 --chips 16 --format json");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out)["rows"][0];
  };
  const auto whole = days(temporary_file("plan.textproto", kJob)), broken = days(file);
  EXPECT_GT(broken["days"].get<double>(), whole["days"].get<double>());
  EXPECT_LE(broken["days_p10"].get<double>(), broken["days"].get<double>());
}

TEST(PlanVerb, unknown_chip_and_wrong_range_are_told) {
  const std::string file = temporary_file("plan.textproto", kJob);
  const CommandResult chip = podsim_command("plan " + file + " --tokens 1e10 --chip h1000");
  EXPECT_EQ(chip.exit_code, 2);
  EXPECT_NE(chip.err.find("no chip \"h1000\""), std::string::npos) << chip.err;
  EXPECT_EQ(podsim_command("plan " + file + " --tokens 1e10 --chips x").exit_code, 2);
}

}  // namespace
}  // namespace podsim::plan_verb_test
