// podsim whatif: before, after and who is to blame; and a run whose exported trace replays to the same
// figures.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim::whatif_test {
namespace {

using nlohmann::json;

TEST(WhatIfVerb, shows_before_and_after_and_the_culprit) {
  const CommandResult result = podsim_command("whatif " + small_scenario() + " --slow chip:3=0.5x --quiet");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("A step takes "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\ncause: chip 3 at speed 0.5, 100.0% of the delay\nwhat-if replay: agrees: S "),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("by the rules for recordings: few workers\n"), std::string::npos) << result.out;
}

TEST(WhatIfVerb, json_holds_both_reports) {
  const CommandResult result =
      podsim_command("whatif " + small_scenario() + " --slow chip:3=0.5x --quiet --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto reports = nlohmann::json::parse(result.out);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_LT(reports[0]["step_time_s"], reports[1]["step_time_s"]);
  EXPECT_FALSE(reports[0].contains("what_if"));
  EXPECT_FALSE(reports[0].contains("verdict"));
  EXPECT_EQ(reports[1]["verdict"]["cause"], "chip 3 at speed 0.5");
  EXPECT_EQ(reports[1]["what_if"]["likely_cause"], "few workers");
  EXPECT_EQ(reports[1]["what_if"]["culprits"].size(), 1u);
}

TEST(WhatIfVerb, wrong_parts_are_told_and_nothing_runs) {
  const CommandResult unknown = podsim_command("whatif " + small_scenario() + " --slow chp:3=0.5x");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_NE(unknown.err.find("--slow chp:3=0.5x: did you mean \"chip\"?"), std::string::npos) << unknown.err;
  const CommandResult none = podsim_command("whatif " + small_scenario());
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("at least one --slow or --fail"), std::string::npos) << none.err;
  const CommandResult beyond = podsim_command("whatif " + small_scenario() + " --fail link:0-99");
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_NE(beyond.err.find("there is no chip \"99\""), std::string::npos) << beyond.err;
}

json what_if(const std::string& command) {
  const CommandResult result = podsim_command("whatif " + command + " --format json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

TEST(WhatIfVerb, a_failed_nic_is_told_to_stop_the_job_and_a_failed_spine_not) {
  const std::string job = std::string(PODSIM_SOURCE_DIR) + "/scenarios/llama3_70b_512_h100.textproto";
  const CommandResult nic = podsim_command("whatif " + job + " --fail nic:0 --quiet");
  ASSERT_EQ(nic.exit_code, 0) << nic.err;
  EXPECT_NE(
      nic.out.find("a job that goes round nic:0. When it fails the job stops: its collectives time out"),
      std::string::npos)
      << nic.out;
  EXPECT_NE(nic.out.find("256.0 chip-hours"), std::string::npos) << "half an hour of 512 chips";
  const CommandResult spine = podsim_command("whatif " + job + " --fail spine:0 --quiet");
  ASSERT_EQ(spine.exit_code, 0) << spine.err;
  EXPECT_EQ(spine.out.find("stops"), std::string::npos) << spine.out;
}

TEST(WhatIfVerb, a_lost_host_leaves_fewer_replicas) {
  const std::string pairs = small_scenario() +
                            " --set job.mesh.fsdp.size=8 --set 'job.mesh[1].name=data' --set " +
                            "'job.mesh[1].size=2'";
  const CommandResult table = podsim_command("whatif " + pairs + " --fail node:1");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find(
                "Without 1 host 8 of 16 GPUs are left. The job stops and can go on with 8 of them: data 1 "
                "instead of 2, the same batch."),
            std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("8 chips instead of 16 train "), std::string::npos) << table.out;
  const json reports = what_if(pairs + " --fail node:0");
  EXPECT_EQ(reports[1]["chips"], 8);
  EXPECT_EQ(reports[1]["tokens_per_step"], reports[0]["tokens_per_step"]);
}

TEST(WhatIfVerb, a_lost_host_takes_its_slow_chip_with_it) {
  const std::string slow =
      small_scenario() +
      " --set job.mesh.fsdp.size=8 --set 'job.mesh[1].name=data' --set 'job.mesh[1].size=2'" +
      " --set adversity.slow_chip[0].chip=13 --set adversity.slow_chip[0].speed_fraction=0.5";
  EXPECT_EQ(what_if(slow + " --fail node:1")[1]["straggler_delay_s"], 0);
  const json moved = what_if(slow + " --fail node:0");
  EXPECT_GT(moved[1]["straggler_delay_s"], 0);
  EXPECT_EQ(moved[1]["fault_costs"][0]["what"], "chip 5 at speed 0.5");
}

TEST(WhatIfVerb, a_lost_cube_is_replaced_while_the_pod_has_others) {
  const std::string file = "scenarios/llama3_70b_512_v5p.textproto";
  const json reports = what_if(file + " --fail cube:12 --quiet");
  EXPECT_EQ(reports[0]["step_time_s"], reports[1]["step_time_s"]);
  const CommandResult table = podsim_command("whatif " + file + " --fail cube:12 --fail cube:3");
  EXPECT_NE(table.out.find("Without 2 cubes the pod has 138 healthy cubes, and the job needs 8."),
            std::string::npos)
      << table.out;
}

TEST(WhatIfVerb, a_job_that_cannot_go_on_is_told) {
  const CommandResult whole_pod =
      podsim_command("whatif scenarios/one_ocs_down_4096_v4.textproto --fail cube:12");
  EXPECT_EQ(whole_pod.exit_code, 2);
  EXPECT_NE(whole_pod.err.find("the job waits for the repair"), std::string::npos) << whole_pod.err;
  const CommandResult one_host = podsim_command("whatif scenarios/custom_mlp_8_h100.textproto --fail node:0");
  EXPECT_EQ(one_host.exit_code, 2);
  EXPECT_NE(one_host.err.find("Without 1 host 0 of 8 GPUs are left"), std::string::npos) << one_host.err;
}

TEST(WhatIfVerb, a_step_beyond_simulated_time_is_an_error_of_the_input) {
  std::string slow;
  for (const char* times : {"1", "2", "3"}) slow += " --slow chip:1=0.000" + std::string(times);
  const CommandResult result = podsim_command("whatif " + small_scenario() + slow);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_NE(result.err.find("days, and podsim simulates 10 at most"), std::string::npos) << result.err;
}

TEST(WhatIfVerb, hosts_and_cubes_out_of_range_are_told_with_the_range) {
  const CommandResult host = podsim_command("whatif " + small_scenario() + " --fail node:2");
  EXPECT_EQ(host.exit_code, 2);
  EXPECT_NE(host.err.find("there is no host \"2\"; dgx_h100 has 0 to 1 here"), std::string::npos) << host.err;
  const CommandResult cube = podsim_command("whatif scenarios/llama3_70b_512_v5p.textproto --fail cube:140");
  EXPECT_NE(cube.err.find("there is no cube \"140\"; v5p_pod has 0 to 139 here"), std::string::npos)
      << cube.err;
  const CommandResult none = podsim_command("whatif " + small_scenario() + " --fail cube:0");
  EXPECT_NE(none.err.find("dgx_h100 has no cubes"), std::string::npos) << none.err;
}

TEST(RunTrace, replays_to_the_figures_of_the_run) {
  const std::string trace = temporary_file("steps.csv.gz", "");
  const std::string slow =
      " --set adversity.slow_chip[0].chip=3 --set adversity.slow_chip[0].speed_fraction=0.5";
  const CommandResult run =
      podsim_command("run " + small_scenario() + slow + " --quiet --format json --trace " + trace);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string meta = trace.substr(0, trace.size() - std::string(".csv.gz").size()) + ".meta.yaml";
  const CommandResult replay = podsim_command("replay " + trace + " --meta " + meta + " --format json");
  ASSERT_EQ(replay.exit_code, 0) << replay.err;
  const auto own = nlohmann::json::parse(run.out)["what_if"], replayed = nlohmann::json::parse(replay.out);
  for (const char* key : {"S", "M_W", "T_s", "T_ideal_s"})
    EXPECT_NEAR(replayed[key].get<double>(), own[key].get<double>(), 1e-9) << key;
  EXPECT_EQ(replayed["culprits"][0]["rank"], own["culprits"][0]["rank"]);
}

TEST(RunTrace, is_refused_where_traces_have_no_operations_for_the_passes) {
  const CommandResult result =
      podsim_command("run scenarios/zero_bubble_70b_256_h100.textproto --quiet --trace " +
                     temporary_file("none.csv.gz", ""));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("--trace"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace podsim::whatif_test
