// Conditions on measured runs.
#include "validation/run_condition.h"

#include <gtest/gtest.h>

namespace podsim::run_condition_test {
namespace {

RunScenario run() {
  RunScenario run;
  run.id = "g1";
  run.family = "megascale-175b";
  run.chip = "a100_80";
  run.stack = "megatron_2023";
  run.architecture = "dense";
  run.chips = 1024;
  return run;
}

bool holds(const std::string& text) {
  RunCondition condition;
  EXPECT_EQ(condition.read(text), "") << text;
  return condition.holds(run());
}

TEST(RunCondition, names_are_compared_whole_and_any_of_several_will_do) {
  EXPECT_TRUE(holds("chip=a100_80"));
  EXPECT_TRUE(holds("chip = h100 | a100_80"));
  EXPECT_FALSE(holds("chip=a100"));
  EXPECT_FALSE(holds("chip!=h100|a100_80"));
  EXPECT_TRUE(holds("family!=korthikanti22"));
}

TEST(RunCondition, chips_are_compared_by_number) {
  EXPECT_TRUE(holds("chips<=1024"));
  EXPECT_FALSE(holds("chips<1024"));
  EXPECT_TRUE(holds("chips>=1024"));
  EXPECT_FALSE(holds("chips>1024"));
  EXPECT_TRUE(holds("chips=1024"));
}

TEST(RunCondition, parts_must_all_hold) {
  EXPECT_TRUE(holds("chips>256 & arch=dense"));
  EXPECT_FALSE(holds("chips>256 & arch=moe"));
}

TEST(RunCondition, what_it_does_not_understand_is_told_with_the_nearest_name) {
  const auto problem = [](const std::string& text) { return RunCondition().read(text); };
  EXPECT_EQ(problem("famly=a"), "runs have no \"famly\"; did you mean \"family\"?");
  EXPECT_EQ(problem("dense"), "\"dense\" compares nothing: write it as chips<=1024 or chip=h100");
  EXPECT_EQ(problem("chip<4"), "\"chip<4\": only chips is compared so, with a whole number");
  EXPECT_EQ(problem("chips<4x"), "\"chips<4x\": only chips is compared so, with a whole number");
  EXPECT_EQ(problem("chip=="), "\"==\" is no comparison: one of = != < <= > >=");
  EXPECT_EQ(problem("chip="), "\"chip=\" compares with nothing");
}

}  // namespace
}  // namespace podsim::run_condition_test
