// podsim whatif: before, after and who is to blame; and a run whose exported trace replays to the same
// figures.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim {
namespace {

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
}  // namespace podsim
