// podsim replay: rows that cannot be read are named by place, and figures come as a table or as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/command.h"

namespace podsim::replay_test {
namespace {

const std::string kHeader = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";

// One worker; the second step computes 1 s longer.
std::string good_rows() {
  std::string rows;
  for (const int step : {5, 8}) {
    const std::string at = "0,0,0," + std::to_string(step) + ",";
    const std::string forward = step == 5 ? "1" : "2";
    rows += at + "forward-compute,0," + forward + ",0,0,0,0\n" + at + "backward-compute," + forward +
            ",2,0,0,0,0\n" + at + "gc,4,0,0,-1,-1,-1\n" + at +
            "layernorm-grads-all-reduce,4,0.25,0,-1,-1,-1\n" + at +
            "embedding-grads-all-reduce,4,0.25,0,-1,-1,-1\n" + at +
            "optimizer-clip-main-grad,4,0.25,0,-1,-1,-1\n" + at + "optimizer,4,0.25,0,-1,-1,-1\n";
  }
  return rows;
}

CommandResult replay(const std::string& csv, const std::string& options = "") {
  return podsim_command("replay " + temporary_file("trace.csv", csv) + " " + options);
}

TEST(ReplayVerb, figures_are_told_under_their_keys) {
  const CommandResult result = replay(kHeader + good_rows(), "--format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["step_time_s"], (nlohmann::json{{"5", 4.0}, {"8", 5.0}}));
  EXPECT_EQ(json["T_s"], 4.5);
  EXPECT_EQ(json["T_ideal_s"], 4.5);
  EXPECT_EQ(json["S"], 1.0);
  EXPECT_EQ(json["S_by_worker"]["0"]["0"], 1.0);
  EXPECT_TRUE(json["M_W"].is_null());
  EXPECT_EQ(json["likely_cause"], "none");
  for (const char* key : {"S_by_optype", "S_by_dp_rank", "S_by_stage", "M_S", "culprits"})
    EXPECT_TRUE(json.contains(key)) << key;
}

TEST(ReplayVerb, steps_can_be_chosen) {
  const CommandResult result = replay(kHeader + good_rows(), "--steps 8 --format json");
  EXPECT_EQ(nlohmann::json::parse(result.out)["step_time_s"], (nlohmann::json{{"8", 5.0}}));
  const CommandResult unknown = replay(kHeader + good_rows(), "--steps 6");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("the trace has no step 6"), std::string::npos) << unknown.err;
}

TEST(ReplayVerb, a_table_ends_with_the_likely_cause) {
  const CommandResult result = replay(kHeader + good_rows());
  EXPECT_NE(result.out.find("1 data ranks x 1 stages, 2 steps"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nlikely cause: none\n"), std::string::npos) << result.out;
}

TEST(ReplayVerb, what_a_trace_does_not_have_is_noted) {
  std::string rows;
  std::istringstream lines(good_rows());
  for (std::string line; std::getline(lines, line);)
    if (line.find(",optimizer,") == std::string::npos) rows += line + "\n";
  const CommandResult table = replay(kHeader + rows);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("\nnote: no optimizer rows: steps are told without them\n"), std::string::npos)
      << table.out;
  const auto json = nlohmann::json::parse(replay(kHeader + rows, "--format json").out);
  EXPECT_EQ(json["T_s"], 4.25);
  EXPECT_EQ(json["notes"].size(), 1u);
}

TEST(ReplayVerb, bad_rows_are_named_by_line_and_column) {
  const std::string row = "0,0,0,5,forward-compute,0,1,0,0,0,0\n";
  const auto told = [&](const std::string& bad) {
    const CommandResult result = replay(kHeader + row + bad);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::string type = told("0,0,0,5,forward-compte,0,1,0,0,0,0\n");
  expect(type, "trace.csv:3:9: optype is \"forward-compte\"");
  expect(type, "did you mean \"forward-compute\"?");
  expect(told("0,0,0,5,gc,0,-1,0,0,0,0\n"), "trace.csv:3:14: duration is \"-1\"");
  expect(told("0,0,0,5,gc,0,x,0,0,0,0\n"), "trace.csv:3:14: duration is \"x\"");
  expect(told("0,1.5,0,5,gc,0,1,0,0,0,0\n"), "trace.csv:3:3: stage is \"1.5\"");
  expect(told("0,0,0,5,gc,0,1,0,0\n"), "trace.csv:3:1: the row has 9 cells, the header 11");
}

TEST(ReplayVerb, a_missing_column_is_told_with_the_nearest_name) {
  const CommandResult result = replay("dp_rank,stage,rank,step,optype,start_ts,durations,seq_id,mc,gmc\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("the trace has no column \"duration\""), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("is it \"durations\"?"), std::string::npos) << result.err;
}

TEST(ReplayVerb, what_describes_the_run_is_checked) {
  const std::string meta = temporary_file("meta.yaml", "trial_name: A\ndsp_size: none\n");
  const CommandResult result = replay(kHeader + good_rows(), "--meta " + meta);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("meta.yaml:2:1: dsp_size is \"none\""), std::string::npos) << result.err;
  const CommandResult missing = podsim_command("replay none.csv.gz");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("none.csv.gz"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace podsim::replay_test
