// Which adversity is the cause, and what is said of a replay that sees it otherwise.
#include "report/summary/verdict.h"

#include <gtest/gtest.h>

#include "tests/report/example.h"

namespace podsim::verdict_test {
namespace {

// A step of 10 s, of which adversities cost `delay_s`.
Report delayed(double delay_s, std::vector<FaultCost> costs) {
  Report report = example_report();
  report.step_time = Time::seconds(10);
  report.straggler_delay = Time::seconds(delay_s);
  report.fault_costs = std::move(costs);
  return report;
}

WhatIf replay_of(double slowdown, int steps, const std::string& cause) {
  WhatIf what_if;
  what_if.S.mean = slowdown;
  what_if.steps.resize(static_cast<std::size_t>(steps));
  what_if.likely_cause = cause;
  return what_if;
}

TEST(Verdict, the_cause_is_the_adversity_that_costs_half_of_the_delay_or_more) {
  const StragglerVerdict verdict = verdict_of(
      delayed(2, {{"chip 2 at speed 0.5", Time::seconds(1.5)}, {"jitter of steps", Time::seconds(1)}}), "");
  EXPECT_DOUBLE_EQ(verdict.slowdown, 1.25);
  EXPECT_EQ(verdict.cause, "chip 2 at speed 0.5");
  EXPECT_DOUBLE_EQ(verdict.share, 0.75);
  EXPECT_EQ(verdict_sentence(verdict),
            "Stragglers make the step 25.0% longer: the cause is chip 2 at speed 0.5, 75.0% of it.");
}

// Each of two chips that are equally slow hides the other.
TEST(Verdict, adversities_that_hide_each_other_are_the_cause_together) {
  const StragglerVerdict verdict = verdict_of(delayed(2, {{"chip 2", {}}, {"chip 5", {}}}), "");
  EXPECT_EQ(verdict.cause, "2 adversities together");
  EXPECT_EQ(verdict.share, 1);
}

TEST(Verdict, what_makes_the_step_shorter_or_hardly_longer_is_no_cause) {
  const StragglerVerdict shorter = verdict_of(delayed(-0.5, {{"chip 2", Time::seconds(-0.5)}}), "");
  EXPECT_EQ(shorter.cause, "none");
  EXPECT_EQ(shorter.share, 0);
  EXPECT_EQ(verdict_sentence(shorter), "The adversities make the step 4.8% shorter.");
  const StragglerVerdict same = verdict_of(delayed(0.005, {{"chip 2", Time::seconds(0.005)}}), "");
  EXPECT_EQ(same.cause, "none");
  EXPECT_EQ(verdict_sentence(same), "The adversities change the step by less than 0.1%.");
}

TEST(Verdict, a_replay_that_disagrees_is_told_with_the_reason) {
  Report report = delayed(-0.5, {{"chip 2", Time::seconds(-0.5)}});
  report.what_if = replay_of(1.063, 1, "few workers");
  EXPECT_EQ(verdict_of(report, "").replay,
            "differs: S 1.063, likely cause by the rules for recordings: few workers; a replay knows the "
            "operations of "
            "these steps and takes their mean for ideal, not the job without adversities");
  report = delayed(2, {{"late launches of chip 13", Time::seconds(2)}});
  report.steps = 100;
  report.what_if = replay_of(1.0, 4, "none");
  EXPECT_EQ(verdict_of(report, "").replay.rfind("differs: S 1.000 in the first 4 of 100 steps, ", 0), 0u);
  EXPECT_EQ(verdict_of(report, "").cause, "late launches of chip 13");
}

TEST(Verdict, a_replay_that_agrees_is_told_in_short) {
  Report report = delayed(2, {{"chip 2", Time::seconds(2)}});
  report.what_if = replay_of(1.24, 1, "few workers");
  EXPECT_EQ(verdict_of(report, "").replay,
            "agrees: S 1.240, likely cause by the rules for recordings: few workers");
}

TEST(Verdict, without_a_replay_the_reason_is_told) {
  const StragglerVerdict verdict =
      verdict_of(delayed(2, {{"chip 2", Time::seconds(2)}}), "stage 1 has no sends");
  EXPECT_EQ(verdict.replay, "not possible: stage 1 has no sends");
  EXPECT_NE(verdict_table(verdict).find("cause: chip 2, 100.0% of the delay\n"), std::string::npos);
}

}  // namespace
}  // namespace podsim::verdict_test
