// Rules of how long simulated time may be.
#include "engine/time_limits.h"

#include <gtest/gtest.h>

namespace podsim::time_limits_test {
namespace {

TEST(TimeLimits, are_the_same_in_picoseconds_seconds_and_words) {
  EXPECT_EQ(kLongestStep, Time::seconds(kLongestStep_s));
  EXPECT_EQ(kLongestRun, Time::seconds(kLongestRun_s));
  EXPECT_EQ(kTooLongForAStep, Time::seconds(kTooLongForAStep_s));
  EXPECT_EQ(longest_step_words(), "podsim simulates 10 at most");
  EXPECT_EQ(longest_run_words(), "podsim simulates 90 at most");
}

TEST(TimeLimits, cap_durations_of_which_a_step_is_refused) {
  EXPECT_EQ(capped_seconds(1.5), Time::seconds(1.5));
  EXPECT_EQ(capped_seconds(1e300), kTooLongForAStep);
}

TEST(TimeLimits, are_held_to_the_picosecond) {
  EXPECT_NO_THROW(check_step(1, Time{7}, Time{7} + kLongestStep));
  EXPECT_THROW(check_step(1, Time{7}, Time{8} + kLongestStep), StepTooLong);
  EXPECT_EQ(next_instant(kLongestRun, false), kLongestRun);
  EXPECT_THROW(next_instant(kLongestRun + Time{1}, false), StepTooLong);
  EXPECT_EQ(drawn_delay(kLongestStep_s, "a pause"), kLongestStep);
  EXPECT_THROW(drawn_delay(kLongestStep_s + 1, "a pause"), StepTooLong);
  EXPECT_THROW(check_computation(1e19), StepTooLong);
}

TEST(TimeLimits, tell_what_never_ends_from_what_has_stopped) {
  EXPECT_THROW(next_instant(Time::max(), true), StepTooLong);
  EXPECT_DEATH(next_instant(Time::max(), false), "the step has stopped: chips wait for each other");
}

}  // namespace
}  // namespace podsim::time_limits_test
