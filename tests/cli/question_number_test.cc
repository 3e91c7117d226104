// scenario_sha256: the same for the same question, and another one for each option that changes the answer.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/plan/plan_job.h"

namespace podsim::question_number_test {
namespace {

using nlohmann::json;

std::string number_of(const std::string& words) {
  const CommandResult result = podsim_command(words + " --quiet --format json");
  EXPECT_NE(result.out, "") << words << result.err;
  if (result.out.empty()) return words;
  const json answer = json::parse(result.out);
  return (answer.is_array() ? answer[0] : answer).value("scenario_sha256", "none");
}

// Each option gives another number than the words alone, and than all others.
void expect_different(const std::string& words, const std::vector<std::string>& options) {
  std::vector<std::string> numbers = {number_of(words)};
  EXPECT_EQ(numbers.front().size(), 64u) << words;
  EXPECT_EQ(number_of(words), numbers.front()) << words;
  for (const std::string& option : options) {
    numbers.push_back(number_of(words + " " + option));
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i)
      EXPECT_NE(numbers[i], numbers.back()) << words << " " << option;
  }
}

TEST(QuestionNumbers, of_owning_differ_by_every_option) {
  expect_different("own " + small_scenario(),
                   {"--years 3", "--chip-usd 20000", "--host-usd 1", "--network-usd 1", "--hall-usd 1",
                    "--interest 0.2", "--residual 0.3", "--operation 0.3", "--usd-per-kwh 0.3",
                    "--utilisation 0.3", "--pue 1.7", "--idle-pue 1.9", "--region sweden", "--site-kw 500"});
}

TEST(QuestionNumbers, of_searches_differ_by_every_option) {
  expect_different("search " + temporary_file("space.textproto", kPlanJob) + " --set space.tensor=1",
                   {"--top 2", "--within 2%", "--gap 1%", "--pareto", "--why-not microbatch=1"});
}

TEST(QuestionNumbers, of_plans_differ_by_every_option) {
  expect_different(
      "plan " + temporary_file("plan.textproto", kPlanJob) + " --tokens 1e9 --chips 8 --set space.tensor=1",
      {"--days 30", "--days 30 --probability 0.9", "--budget 1e6", "--minimise days", "--draws 500",
       "--precision fp8", "--price-term on_demand,committed_1y", "--gap 2%", "--top 1", "--site-kw 100",
       "--vary cluster.usd_per_chip_hour=0.5..2x", "--at-most power_kw=50", "--at-least mfu_causal=0.1",
       "--from-day h100=3", "--one-off-usd h100=3", "--pareto"});
}

TEST(QuestionNumbers, of_clusters_made_equal_differ_by_every_option) {
  expect_different(
      "compare " + temporary_file("a.textproto", kPlanJob) + " " +
          temporary_file("b.textproto", kPlanJob + "name: \"b\"\n"),
      {"--equal chips", "--equal throughput", "--equal cost", "--equal chips --chips 8,16",
       "--equal deadline --days 300", "--equal deadline --days 400", "--equal chips --tokens 2e9"});
}

TEST(QuestionNumbers, of_sizes_differ_by_tokens_and_critical_batch) {
  expect_different("scale " + small_scenario() + " --chips 16,32",
                   {"--tokens 1e9", "--tokens 2e9", "--tokens 1e9 --critical-batch kaplan",
                    "--tokens 1e9 --critical-batch 1e6"});
}

}  // namespace
}  // namespace podsim::question_number_test
