// Runs of weeks slice by slice: all chip-time once, lost training where it was trained.
#include "report/summary/weeks_course.h"

#include <gtest/gtest.h>

#include <numeric>

namespace podsim::weeks_course_test {
namespace {

constexpr std::int64_t kDay = 86'400'000;

RunCourse::Moment moment(std::int64_t day, std::int64_t productive, std::int64_t recompute,
                         std::int64_t restart) {
  RunCourse::Moment at{{day * kDay}, {}};
  at.accounts.charge(RunBucket::kProductive, productive * kDay);
  at.accounts.charge(RunBucket::kRecompute, recompute * kDay);
  at.accounts.charge(RunBucket::kRestart, restart * kDay);
  return at;
}

double share(const WeeksCourse::Slice& slice, RunBucket bucket) {
  return slice.shares.at(static_cast<std::size_t>(bucket));
}

// Ten chips train for two days; on the third a failure takes 15 chip-days of it, and the job restarts.
TEST(WeeksCourse, training_that_is_lost_was_lost_on_the_days_that_trained_it) {
  const RunCourse course{
      {}, {moment(1, 10, 0, 0), moment(2, 20, 0, 0), moment(3, 5, 15, 10)}, {{{2 * kDay}, 0}}};
  TrainingRun run;
  run.failures.resize(1);
  const WeeksCourse weeks = weeks_course(run, {&course, 1});
  ASSERT_EQ(weeks.slices.size(), 3u);
  EXPECT_DOUBLE_EQ(share(weeks.slices[0], RunBucket::kProductive), 0.5);
  EXPECT_DOUBLE_EQ(share(weeks.slices[0], RunBucket::kRecompute), 0.5);
  EXPECT_DOUBLE_EQ(share(weeks.slices[1], RunBucket::kRecompute), 1);
  EXPECT_DOUBLE_EQ(share(weeks.slices[2], RunBucket::kRestart), 1);
  for (const WeeksCourse::Slice& slice : weeks.slices)
    EXPECT_DOUBLE_EQ(std::accumulate(slice.shares.begin(), slice.shares.end(), 0.0), 1);
  ASSERT_EQ(weeks.failures.size(), 1u);
  EXPECT_DOUBLE_EQ(weeks.failures[0].day, 2);
}

TEST(WeeksCourse, slow_parts_take_their_share_of_what_is_trained) {
  const RunCourse course{{}, {moment(1, 8, 0, 2)}, {}};
  TrainingRun run;
  run.straggler_share = 0.25;
  const WeeksCourse weeks = weeks_course(run, {&course, 1});
  EXPECT_DOUBLE_EQ(share(weeks.slices.at(0), RunBucket::kProductive), 0.6);
  EXPECT_DOUBLE_EQ(share(weeks.slices.at(0), RunBucket::kStraggler), 0.2);
  EXPECT_DOUBLE_EQ(weeks.goodput.back().middle, 0.6);
}

}  // namespace
}  // namespace podsim::weeks_course_test
