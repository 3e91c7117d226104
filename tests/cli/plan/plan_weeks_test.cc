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

}  // namespace
}  // namespace podsim::plan_weeks_test
