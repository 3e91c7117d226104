// Steps that would go on beyond simulated time.
#include "prediction/step_length.h"

#include <gtest/gtest.h>

#include "prediction/evaluator.h"
#include "prediction/predict.h"
#include "prediction/selectors.h"
#include "tests/prediction/small_job.h"

namespace podsim::step_length_test {
namespace {

std::string refusal(const Spec& spec) {
  try {
    predict_step(spec, {});
  } catch (const StepTooLong& refused) {
    return refused.what();
  }
  return "";
}

Spec with(const std::string& adversity) {
  testing::SmallJob small;
  small.adversity = adversity;
  return testing::load(small);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(StepLength, of_what_multiplies_beyond_simulated_time_is_told_with_the_part) {
  const Spec chip =
      with("slow_chip { chip: 3 speed_fraction: 1e-4 } slow_chip { chip: 3 speed_fraction: 1e-4 }");
  EXPECT_TRUE(has(refusal(chip), "computation on chip 3, at 0.000000010 of its speed")) << refusal(chip);
  const Spec link = with(
      "slow_link { chip: 3 kind: \"nic\" speed_fraction: 1e-4 } "
      "slow_link { chip: 3 kind: \"nic\" speed_fraction: 1e-4 } "
      "slow_link { chip: 3 kind: \"nic\" speed_fraction: 1e-4 }");
  EXPECT_TRUE(has(refusal(link), "communication, over a link of kind nic with 0.00000")) << refusal(link);
}

TEST(StepLength, of_windows_that_come_again_counts_by_their_share) {
  const std::string which = "which { kind: \"chip\" index: 3 } speed_fraction: 1e-4 ";
  const std::string twice =
      "slow { " + which + "%s compose: multiply } slow { " + which + "%s compose: multiply }";
  const auto both = [&](const std::string& when) {
    std::string text = twice;
    for (int i = 0; i < 2; ++i) text.replace(text.find("%s"), 2, when);
    return with(text);
  };
  EXPECT_NE(refusal(both("when { window { from_s: 0 to_s: 0.999999 } repeat_every_s: 1 }")), "");
  EXPECT_EQ(refusal(both("when { window { from_s: 0 to_s: 0.1 } repeat_every_s: 1 }")), "");
  EXPECT_EQ(refusal(both("when { window { from_s: 0 to_s: 10 } }")), "");
}

TEST(StepLength, of_the_slowest_single_part_is_simulated) {
  const Spec spec = with(
      "slow_chip { chip: 3 speed_fraction: 1e-4 } "
      "slow_link { chip: 3 kind: \"nic\" speed_fraction: 1e-4 }");
  EXPECT_EQ(refusal(spec), "");
}

// Of one billion sequences after every step of sixteen: some 6 x 10^7 forward passes.
TEST(StepLength, counts_evaluations) {
  testing::SmallJob small;
  small.job += " evaluation { sequences: 1000000000 every_steps: 1 }";
  EXPECT_TRUE(has(refusal(testing::load(small)), "evaluations take ")) << refusal(testing::load(small));
  EXPECT_THROW(Evaluator().evaluate(testing::load(small)), StepTooLong);
  small.job.replace(small.job.find("1000000000"), 10, "1000000");
  EXPECT_EQ(refusal(testing::load(small)), "");
}

TEST(StepLength, counts_what_chance_adds_to_all_steps) {
  const auto refused = [](const std::string& adversity, int steps) {
    Spec spec = with(adversity);
    spec.steps = steps;
    return refusal(spec);
  };
  EXPECT_TRUE(
      has(refused("input_stall { probability: 1 mean_ms: 1e9 }", 64), "its longest part is input_stall"));
  EXPECT_TRUE(has(refused("garbage_collection { every_steps: 1 pause_ms: 1e6 }", 100000),
                  "its longest part is garbage_collection"));
  EXPECT_TRUE(has(refused("late_launch { chip: 0 late_ms: 1 more_each_step_ms: 1e6 }", 1000),
                  "its longest part is late_launch"));
  EXPECT_EQ(refused("input_stall { probability: 1 mean_ms: 1e5 }", 4), "");
  EXPECT_EQ(refused("garbage_collection { every_steps: 1 pause_ms: 1000 }", 4), "");
  EXPECT_EQ(refused("late_launch { chip: 0 late_ms: 1000 more_each_step_ms: 1000 }", 4), "");
}

TEST(StepLength, is_told_of_layouts_that_are_appraised_too) {
  const Spec slow =
      with("slow_chip { chip: 3 speed_fraction: 1e-4 } slow_chip { chip: 3 speed_fraction: 1e-4 }");
  EXPECT_THROW(Evaluator().evaluate(slow), StepTooLong);
}

TEST(StepLength, is_that_of_speeds_which_a_scenario_may_have) {
  Spec spec = with("");
  EXPECT_NE(add_slow(spec, "chip:1=1e-7x"), "");
  EXPECT_NE(add_slow(spec, "nic:1=0.00009"), "");
  EXPECT_EQ(add_slow(spec, "chip:1=0.01%"), "");
}

}  // namespace
}  // namespace podsim::step_length_test
