// Rows of a plan over weeks of failures are scenarios of which podsim reliability gives the same days.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/plan/plan_job.h"

namespace podsim::plan_weeks_test {
namespace {

using nlohmann::json;

// The row that a plan of these tokens writes, held against its answer.
void expect_same_days(const std::string& text, double tokens) {
  const std::string file = temporary_file("weeks.textproto", text);
  const std::string row = temporary_file("row.textproto", "");
  const CommandResult planned =
      podsim_command("plan " + file + " --tokens " + std::to_string(tokens) +
                     " --chips 16 --set space.tensor=1 --quiet --format json --out " + row);
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const json first = json::parse(planned.out)["rows"][0];
  const CommandResult weeks = podsim_command("reliability " + row + " --quiet --format json");
  ASSERT_EQ(weeks.exit_code, 0) << weeks.err;
  const json figures = json::parse(weeks.out)["event_simulation"];
  EXPECT_DOUBLE_EQ(figures["days"]["p50"].get<double>(), first["days"].get<double>()) << text;
  EXPECT_DOUBLE_EQ(figures["cost_usd"]["p50"].get<double>(), first["cost_usd"].get<double>()) << text;
  const CommandResult step = podsim_command("run " + row + " --quiet --format json");
  ASSERT_EQ(step.exit_code, 0) << step.err;
  EXPECT_EQ(json::parse(step.out)["step_time_s"], first["step_time_s"]) << text;
}

std::string job_with(const std::string& length, const std::string& more = "") {
  return kPlanJob + more + "reliability { " + length +
         " failures: \"llama3_16k_h100\" failure_factor: 100 checkpoint { save_s: 30 auto: young } }\n";
}

TEST(PlanRows, have_the_days_of_reliability_whatever_length_the_block_says) {
  expect_same_days(job_with(""), 1e11);
  expect_same_days(job_with("days: 30"), 1e11);
  expect_same_days(job_with("target_tokens: 5e10"), 1e11);
  expect_same_days(job_with("step_error: false"), 1e11);
}

TEST(PlanRows, have_the_days_of_reliability_and_the_step_of_run_whatever_seeds_the_scenario_has) {
  expect_same_days(job_with("", "seeds: 7\n"), 1e11);
}

const std::string kNothingFails =
    "reliability { failure { component: gpu per_1000_node_days: 1 } failure_factor: 0\n"
    "  checkpoint { save_s: 0.001 interval_s: 3600 } ";

// Rows on chips whose bands lie to one side of the prediction.
json rows_of(const std::string& text, const std::string& options) {
  const CommandResult planned = podsim_command(
      "plan " + temporary_file("weeks.textproto", text) +
      " --tokens 1e11 --chip h100,tpu_v5p --chips 16 --set space.tensor=1 --quiet --format json " + options);
  EXPECT_FALSE(planned.out.empty()) << planned.err;
  return planned.out.empty() ? json::array() : json::parse(planned.out)["rows"];
}

TEST(PlanRows, take_the_days_dollars_and_energy_of_their_predicted_steps_where_nothing_fails) {
  const json steps = rows_of(kPlanJob, "--minimise days"),
             weeks = rows_of(kPlanJob + kNothingFails + "}\n", "--minimise days");
  ASSERT_EQ(steps.size(), 2U);
  ASSERT_EQ(weeks.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i)
    for (const char* figure : {"days", "cost_usd", "energy_mwh"}) {
      const double by_steps = steps[i][figure], by_weeks = weeks[i][figure];
      EXPECT_NEAR(by_weeks / by_steps, 1, 1e-3) << weeks[i]["chip"] << " " << figure;
      EXPECT_GE(by_weeks, by_steps * (1 - 1e-6)) << weeks[i]["chip"] << " " << figure;
    }
}

// Neither in the ranges nor in what is held against a limit with a probability.
TEST(PlanRows, have_no_error_of_the_step_where_the_block_says_so) {
  const json certain = rows_of(kPlanJob + kNothingFails + "step_error: false }\n", "--minimise days"),
             open = rows_of(kPlanJob + kNothingFails + "}\n", "--minimise days");
  for (const json& row : certain) {
    EXPECT_EQ(row["days_p10"], row["days_p90"]) << row["chip"];
    EXPECT_EQ(row["days_p10"], row["days"]) << row["chip"];
  }
  for (const json& row : open) EXPECT_LT(row["days_p10"], row["days_p90"]) << row["chip"];
  for (const double share : {0.999, 1.001}) {
    const double limit = share * certain.at(0)["days"].get<double>();
    const json held = rows_of(kPlanJob + kNothingFails + "step_error: false }\n",
                              "--minimise days --probability 0.9 --top 1 --days " + std::to_string(limit));
    EXPECT_EQ(held.at(0)["meets"].get<bool>(), share > 1) << share;
  }
}

// So many that a run ends with them, and none with twice as many.
TEST(PlanRows, say_that_a_run_does_not_end_with_twice_the_failures) {
  const std::string fragile = kPlanJob +
                              "reliability { failure { component: gpu per_1000_node_days: 20000 }\n"
                              "  checkpoint { save_s: 600 interval_s: 4000 } }\n";
  const std::string words = "plan " + temporary_file("fragile.textproto", fragile) +
                            " --tokens 1e11 --chips 16 --set space.tensor=1 --quiet ";
  const CommandResult planned = podsim_command(words + "--format json");
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const json swings = json::parse(planned.out)["hangs_on"];
  EXPECT_EQ(swings[0]["what"], "failures over those of the scenario") << swings;
  EXPECT_TRUE(swings[0]["first_to"].is_null()) << swings;
  EXPECT_EQ(swings[0]["note"], "with twice the failures a run of 16 h100 on_demand does not end") << swings;
  const CommandResult table = podsim_command(words);
  EXPECT_NE(table.out.find("no end"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("with twice the failures a run of 16 h100 on_demand does not end"),
            std::string::npos);
}

}  // namespace
}  // namespace podsim::plan_weeks_test
