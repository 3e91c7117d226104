// How long what is simulated may be: a step, all steps of a draw together, and each thing that is foreseen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "engine/unit_factors.h"
#include "engine/units.h"

namespace podsim {

// A step, or all steps of a draw, would go on beyond simulated time. The message is for who asked for them.
class StepTooLong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Picoseconds in 64 bits end after 106 days. Nothing happens after kLongestRun, and nothing is foreseen
// further ahead than kLongestStep, so that no sum of the two is beyond them.
inline constexpr int kLongestStepDays = 10, kLongestRunDays = 90;
inline constexpr double kLongestStep_s = kLongestStepDays * kSecondsPerDay,
                        kLongestRun_s = kLongestRunDays * kSecondsPerDay;
inline constexpr std::int64_t kPicosecondsPerDay =
    static_cast<std::int64_t>(kSecondsPerDay) * 1'000'000'000'000;
inline constexpr Time kLongestStep{kLongestStepDays * kPicosecondsPerDay},
    kLongestRun{kLongestRunDays * kPicosecondsPerDay};
static_assert(kLongestStep < Time::max() - kLongestRun);

// Instants and durations that somebody states are below this, so that they can be counted at all.
inline constexpr double kCountable_s = 9e6;
static_assert(kCountable_s * 1e12 < static_cast<double>(Time::max().ps) && kCountable_s > kLongestRun_s);

// What messages end with: "podsim simulates 10 at most", of days.
std::string longest_step_words();
std::string longest_run_words();

// Stands for all longer durations before a step is held against these limits: a step is refused of one of it,
// and eight of it can be added up.
inline constexpr double kTooLongForAStep_s = 1e6;
inline constexpr Time kTooLongForAStep{1'000'000'000'000'000'000};
static_assert(kTooLongForAStep > kLongestStep && kTooLongForAStep < Time{Time::max().ps / 8});

// As Time::seconds, kTooLongForAStep at most. REQUIRES: s >= 0.
inline Time capped_seconds(double s) { return Time::seconds(std::min(s, kTooLongForAStep_s)); }

// Throws StepTooLong, with `what` ("a pause"), where a delay of so many seconds is longer than a step may be.
void check_delay(double s, const char* what);
// The same, and else as Time::seconds.
Time drawn_delay(double s, const char* what);

[[noreturn]] void refuse_computation();
[[noreturn]] void refuse_instant(Time next, bool draining);

// A computation of so many picoseconds, as chance has it. Throws StepTooLong where it is longer than a step
// may be.
inline void check_computation(double ps) {
  if (!(ps <= static_cast<double>(kLongestStep.ps))) [[unlikely]]
    refuse_computation();
}

// The instant at which something happens next. Throws StepTooLong where that is after kLongestRun; at
// Time::max() nothing will, but that what drains may be so slow. REQUIRES: one of the two.
inline Time next_instant(Time next, bool draining) {
  if (next > kLongestRun) [[unlikely]]
    refuse_instant(next, draining);
  return next;
}

// Throws StepTooLong where a step, counted from 1, is longer than kLongestStep.
void check_step(int step, Time begin, Time end);

}  // namespace podsim
