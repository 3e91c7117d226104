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

// Two layers on eight chips with data parallelism and ZeRO 1, of which pauses before and behind the reduction
// of gradients add up.
Spec eight_chips(const std::string& adversity, int steps) {
  const std::string text =
      "steps: " + std::to_string(steps) +
      " cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" } job { model: \"llama3_8b\"\n"
      "model_override { layers: 2 } stack: \"megatron_bridge_2025\" mesh { name: \"data\" size: 8 }\n"
      "sharding: \"data\" sharding: \"zero1\" global_batch_sequences: 8 microbatch_sequences: 1\n"
      "sequence_tokens: 8192 precision: bf16 }\nadversity { " +
      adversity + " }\n";
  LoadResult loaded = load_scenario("eight.textproto", text, Catalog(), {});
  EXPECT_TRUE(loaded.problems.empty()) << format_problem(loaded.problems.at(0));
  return *std::move(loaded.spec);
}

TEST(StepLength, of_pauses_that_add_up_within_a_step_is_refused_beyond_simulated_time) {
  const std::string each =
      "garbage_collection { of: chip every_steps: 1 pause_ms: 1e6 coefficient_of_variation: 0.01 }";
  EXPECT_EQ(refusal(eight_chips(each, 100)), "");
  const std::string why = refusal(eight_chips(each, 5000));
  EXPECT_TRUE(has(why, "go on for more than 90 days, and podsim simulates 90 at most")) << why;
}

TEST(StepLength, of_causes_that_add_up_is_refused_beyond_simulated_time) {
  const std::string why = refusal(
      eight_chips("garbage_collection { of: job every_steps: 1 pause_ms: 1e6 coefficient_of_variation: 0.5 } "
                  "late_launch { chip: 0 late_ms: 1e6 }",
                  4700));
  EXPECT_TRUE(has(why, "go on for more than 90 days")) << why;
}

TEST(StepLength, in_a_window_that_comes_once_is_ten_days_at_most) {
  const std::string slow =
      "slow { which { kind: \"chip\" index: 0 } speed_fraction: 1e-4 compose: multiply "
      "when { window { from_s: 0 to_s: 9e6 } } } ";
  for (const int steps : {1, 3}) {
    const std::string why = refusal(eight_chips(slow + slow, steps));
    EXPECT_TRUE(has(why, "takes more than 10 days") || has(why, "go on for more than 90 days")) << why;
  }
  // Over before the step is.
  const std::string shorter = "when { window { from_s: 0 to_s: 8e5 } } } ";
  const std::string one = slow.substr(0, slow.find("when")) + shorter;
  EXPECT_EQ(refusal(eight_chips(one + one, 3)), "");
}

// What may go wrong, up to the limits of its fields.
const std::vector<std::string>& causes() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> causes = {
        "input_stall { probability: 1 mean_ms: 1e7 }",
        "input_stall { probability: 0.5 mean_ms: 1e9 }",
        "late_launch { chip: 0 late_ms: 1e6 more_each_step_ms: 1e6 random_ms: 1e6 }",
        "late_launch { chip: 0 random_ms: 1e6 } late_launch { chip: 9 late_ms: 1e6 }",
        "jitter_coefficient_of_variation: 10",
        "jitter_override { of_chip_step: 10 of_run: 10 }",
        "jitter_override { of_operation: 10 hiccup { of: chip probability: 1 mean_share: 1e4 } }",
    };
    for (const char* of : {"chip", "host", "job"})
      for (const char* variation : {"0", "2", "10"})
        causes.push_back(std::string("garbage_collection { of: ") + of +
                         " every_steps: 1 pause_ms: 1e6 coefficient_of_variation: " + variation + " }");
    for (const char* kind : {"chip", "nic", "nvlink"}) {
      for (const char* when :
           {"window { from_s: 0 to_s: 9e6 }", "window { from_s: 0.1 to_s: 8e5 }",
            "window { from_s: 0 to_s: 9e5 } repeat_every_s: 1e6", "on_off { share: 0.5 slot_s: 1e6 }",
            "swing { amplitude: 0.99 period_s: 9e6 }"}) {
        const std::string speed = std::string(when).starts_with("swing") ? "" : " speed_fraction: 1e-4";
        const std::string slow = std::string("slow { which { kind: \"") + kind + "\" index: 3 }" + speed +
                                 " compose: multiply when { " + when + " } } ";
        causes.push_back(slow);
        causes.push_back(slow + slow);
        causes.push_back(slow + slow + slow);
      }
    }
    causes.push_back(
        "nic_flap { which { kind: \"nic\" index: 3 } at_s: 0 down_s: 4e6 library_timeout_s: 9e6 }");
    return causes;
  }();
  return all;
}

// A spec is refused, or ends within simulated time with every picosecond in a bucket, which is checked on the
// way (report/answer/mean_step.cc).
void expect_ended_or_refused(const Spec& spec, const std::string& what, Loop loop = Loop::kFast) {
  PredictOptions options;
  options.loop = loop;
  try {
    const Report report = predict_step(spec, options).report;
    EXPECT_GT(report.step_time, Time{}) << what;
    EXPECT_LE(report.step_time, kLongestStep) << what;
    EXPECT_LE(spec.steps * report.step_time, kLongestRun + spec.steps * Time{1}) << what;
    if (report.ensemble) {
      EXPECT_LE(report.ensemble->longest, kLongestStep) << what;
    }
  } catch (const StepTooLong& refused) {
    EXPECT_TRUE(has(refused.what(), "podsim simulates")) << refused.what();
  }
}

TEST(StepLength, of_whatever_is_not_refused_is_within_simulated_time) {
  for (const std::string& cause : causes()) {
    for (const int steps : {1, 12}) {
      Spec spec = with(cause);
      spec.steps = steps;
      expect_ended_or_refused(spec, cause + ", steps " + std::to_string(steps));
    }
  }
}

TEST(StepLength, of_several_causes_at_once_is_within_simulated_time_by_every_loop) {
  for (std::size_t a = 0; a < causes().size(); a += 2) {
    const std::string& one = causes()[a];
    const std::string& other = causes()[(a * 7 + 3) % causes().size()];
    if (one.substr(0, 11) == other.substr(0, 11) && !one.starts_with("slow")) continue;  // may be there once
    Spec spec = with(one + " " + other);
    spec.steps = 3;
    for (const Loop loop : {Loop::kReference, Loop::kOrdered, Loop::kFast})
      expect_ended_or_refused(spec, one + " " + other, loop);
  }
}

TEST(StepLength, of_several_draws_is_refused_alike_on_any_number_of_threads) {
  Spec spec = with("input_stall { probability: 0.5 mean_ms: 3e8 }");
  spec.steps = 20;
  spec.seeds = 12;
  std::string first;
  for (const int threads : {1, 4, 4, 4}) {
    PredictOptions options;
    options.threads = threads;
    std::string why;
    try {
      predict_step(spec, options);
    } catch (const StepTooLong& refused) {
      why = refused.what();
    }
    if (first.empty()) first = why;
    EXPECT_NE(why, "");
    EXPECT_EQ(why, first);
  }
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
