// podsim reliability, as a user runs it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/command.h"

namespace podsim::reliability_test {
namespace {

using nlohmann::json;

const std::string kLlama = "reliability scenarios/reliability/llama3_54_days_16384_h100.textproto";

TEST(ReliabilityVerb, the_table_says_what_is_by_formula_and_what_is_simulated) {
  const CommandResult result = podsim_command(kLlama + " --seeds 50");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"by formula", "event simulation, 50 runs", "mean time between failures, h   3.093",
        "interval by Young, min          13.62", "WASTED_PROGRESS_FROM_DISRUPTION", "100.00%"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

TEST(ReliabilityVerb, json_has_the_same_bytes_on_any_number_of_threads) {
  const CommandResult one = podsim_command(kLlama + " --seeds 40 --format json --threads 1");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, podsim_command(kLlama + " --seeds 40 --format json --threads 4").out);
  EXPECT_NE(one.out, podsim_command(kLlama + " --seeds 40 --format json --seed 2").out);
  const json out = json::parse(one.out);
  EXPECT_NEAR(out["closed_form"]["goodput"], 0.903682, 1e-6);
  const json& ettr = out["event_simulation"]["ettr"];
  EXPECT_NEAR(ettr["mean"], 0.9037, 0.002);
  EXPECT_LT(ettr["p05"], ettr["p10"]);
  EXPECT_LT(ettr["p10"], ettr["p50"]);
  EXPECT_LT(ettr["p50"], ettr["p90"]);
  EXPECT_LT(ettr["p90"], ettr["p95"]);
  double share = 0;
  for (const json& bucket : out["event_simulation"]["buckets"]) share += bucket["share"].get<double>();
  EXPECT_NEAR(share, 1, 1e-12);
}

// With a job the step is simulated and gives MFU, tokens and days.
TEST(ReliabilityVerb, a_job_gives_the_step) {
  std::ifstream in(small_scenario());
  std::stringstream text;
  text << in.rdbuf();
  const std::string file = temporary_file(
      "weeks_of_a_job.textproto", text.str() +
                                      "reliability { target_tokens: 1e11 failures: \"rsc1\" "
                                      "checkpoint { bytes_per_parameter: 14 write_gb_per_s: 10 } }\n");
  const CommandResult result = podsim_command("reliability " + file + " --seeds 20 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json out = json::parse(result.out);
  EXPECT_GT(out["step_time_s"], 0);
  EXPECT_GT(out["event_simulation"]["ml_productivity_goodput"], 0);
  EXPECT_LT(out["event_simulation"]["ml_productivity_goodput"], out["event_simulation"]["program_goodput"]);
  EXPECT_LE(out["event_simulation"]["days"]["p10"], out["event_simulation"]["days"]["p90"]);
  EXPECT_EQ(out["unfinished"], 0);
  EXPECT_EQ(podsim_command("run " + file).exit_code, 0);
}

TEST(ReliabilityVerb, a_wrong_scenario_is_told_with_its_place) {
  const std::string file = temporary_file("wrong_weeks.textproto",
                                          "cluster { chip: \"h100\" chips: 64 fabric: \"dgx_h100\" }\n"
                                          "reliability {\n"
                                          "  failure { component: gpu rate: 3 }\n"
                                          "  checkpoint { save_s: 60 interval_s: 30 }\n"
                                          "}\n");
  const CommandResult result = podsim_command("reliability " + file);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find(":3:28: the rate has no unit"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(":4:27: a checkpoint takes longer than the interval"), std::string::npos)
      << result.err;
}

// 64 chips: steps of 10 s with 4e6 tokens, so that 1e11 tokens take 2.9 days where nothing fails.
std::string to_tokens(const std::string& failure) {
  return temporary_file("to_tokens.textproto",
                        "cluster { chip: \"h100\" chips: 64 fabric: \"dgx_h100\" }\nseeds: 3\n"
                        "reliability { target_tokens: 1e11 step_time_s: 10 tokens_per_step: 4e6 " +
                            failure + " recovery { restart { mean_s: 600 } } checkpoint { save_s: 30 } }\n");
}

// Failures every 8.64 s, and a restart of 600 s after each.
TEST(ReliabilityVerb, runs_that_do_not_reach_their_tokens_have_neither_days_nor_dollars) {
  const std::string never = to_tokens("failure { component: software per_day: 10000 }");
  const CommandResult result = podsim_command("reliability " + never);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("3 of 3 runs do not reach the tokens within"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("; 3 of 3 runs do not reach the tokens within"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("the tokens take"), std::string::npos) << result.out;
  const std::string some = to_tokens("failure { component: software per_day: 1 }") +
                           " --set 'reliability.failure[0].per_day=1,10000'";
  const CommandResult rows = podsim_command("reliability " + some);
  EXPECT_EQ(rows.exit_code, 0) << rows.err;
  EXPECT_NE(rows.out.find("not finished"), std::string::npos) << rows.out;
  EXPECT_NE(rows.out.find("3 of 3 runs"), std::string::npos) << rows.out;
  EXPECT_NE(rows.out.find("> "), std::string::npos) << rows.out;
  const CommandResult beside = podsim_command("compare --weeks " + some);
  EXPECT_EQ(beside.exit_code, 0) << beside.err;
  EXPECT_NE(beside.out.find("not finished"), std::string::npos) << beside.out;
  EXPECT_NE(beside.out.find("> "), std::string::npos) << beside.out;
}

TEST(ReliabilityVerb, csv_says_how_many_runs_did_not_end_and_leaves_unknown_steps_empty) {
  const auto cell_of = [](const std::string& csv, const std::string& column) {
    std::istringstream lines(csv), columns, cells;
    std::string header, line, name, value;
    std::getline(lines, header);
    std::getline(lines, line);
    columns.str(header);
    cells.str(line);
    while (std::getline(columns, name, ',') && std::getline(cells, value, ','))
      if (name == column) return value;
    return "no column " + column;
  };
  const auto csv = [](const std::string& file) {
    return podsim_command("reliability " + file + " --quiet --format csv").out;
  };
  const std::string never = csv(to_tokens("failure { component: software per_day: 10000 }"));
  EXPECT_EQ(cell_of(never, "unfinished"), "3");
  EXPECT_EQ(cell_of(never, "step_time_s"), "10");
  EXPECT_EQ(cell_of(csv(to_tokens("failure { component: software per_day: 1 }")), "unfinished"), "0");
  const std::string days = csv(temporary_file(
      "ten_days.textproto",
      "cluster { chip: \"h100\" chips: 64 fabric: \"dgx_h100\" }\nseeds: 2\nreliability { days: 10 failure { "
      "component: gpu per_1000_node_days: 20 } checkpoint { save_s: 30 } }\n"));
  EXPECT_EQ(cell_of(days, "unfinished"), "");
  EXPECT_EQ(cell_of(days, "step_time_s"), "");
}

TEST(ReliabilityVerb, csv_runs_no_name_as_a_formula) {
  const CommandResult told = podsim_command(
      "reliability " +
      temporary_file("formula.textproto",
                     "name: \"=1+1\"\ncluster { chip: \"h100\" chips: 64 fabric: \"dgx_h100\" }\nseeds: 1\n"
                     "reliability { days: 1 failure { component: gpu per_1000_node_days: 20 } checkpoint { "
                     "save_s: 30 } }\n") +
      " --quiet --format csv");
  EXPECT_NE(told.out.find("\n'=1+1,"), std::string::npos) << told.out << told.err;
}

TEST(ReliabilityVerb, where_nothing_fails_there_is_no_time_between_failures) {
  const std::string file = to_tokens("failure { component: software per_day: 1 } failure_factor: 0");
  const std::string table = podsim_command("reliability " + file).out;
  const std::size_t row = table.find("mean time between failures, h");
  ASSERT_NE(row, std::string::npos) << table;
  EXPECT_NE(table.substr(row, table.find('\n', row) - row).find(" -"), std::string::npos) << table;
  const json forms = json::parse(podsim_command("reliability " + file + " --format json").out)["closed_form"];
  for (const char* key : {"mttf_h", "young_interval_s", "daly_interval_s", "best_interval_s"})
    EXPECT_TRUE(forms[key].is_null()) << key;
}

TEST(ReliabilityVerb, every_scenario_of_weeks_runs) {
  int found = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(PODSIM_SOURCE_DIR) + "/scenarios/reliability")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".textproto" ||
        read_file(path).find("\nreliability {") == std::string::npos)
      continue;
    ++found;
    const CommandResult result = podsim_command("reliability " + path + " --seeds 3");
    EXPECT_EQ(result.exit_code, 0) << path << "\n" << result.err;
  }
  EXPECT_GE(found, 6);
}

TEST(ReliabilityVerb, the_catalogue_lists_and_shows_mixes_of_failures) {
  EXPECT_NE(podsim_command("catalog failures").out.find("llama3_16k_h100"), std::string::npos);
  EXPECT_NE(podsim_command("catalog failures rsc1").out.find("per_1000_node_days: 6.50"), std::string::npos);
}

}  // namespace
}  // namespace podsim::reliability_test
