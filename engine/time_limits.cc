// Refuses what goes on beyond simulated time, in words.
#include "engine/time_limits.h"

#include "engine/check.h"

namespace podsim {
namespace {

std::string at_most(int days) { return "podsim simulates " + std::to_string(days) + " at most"; }

std::string too_long_for_a_step(const std::string& what) {
  return what + " takes more than " + std::to_string(kLongestStepDays) + " days, and " + longest_step_words();
}

}  // namespace

std::string longest_step_words() { return at_most(kLongestStepDays); }
std::string longest_run_words() { return at_most(kLongestRunDays); }

void check_delay(double s, const char* what) {
  if (!(s <= kLongestStep_s)) throw StepTooLong(too_long_for_a_step(what));
}

Time drawn_delay(double s, const char* what) {
  check_delay(s, what);
  return Time::seconds(s);
}

void refuse_computation() {
  throw StepTooLong(too_long_for_a_step("a computation that chance makes longer"));
}

void refuse_instant(Time next, bool draining) {
  PODSIM_CHECK(next < Time::max() || draining, "the step has stopped: chips wait for each other");
  throw StepTooLong("the steps go on for more than " + std::to_string(kLongestRunDays) + " days, and " +
                    longest_run_words() + ": take fewer steps, or less that slows them down");
}

void check_step(int step, Time begin, Time end) {
  if (end - begin > kLongestStep) throw StepTooLong(too_long_for_a_step("step " + std::to_string(step)));
}

}  // namespace podsim
