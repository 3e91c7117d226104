// Differences between moments of a run, and percentiles over runs.
#include "report/summary/weeks_course.h"

#include <algorithm>
#include <cmath>

#include "engine/unit_factors.h"
#include "report/summary/summarize_runs.h"

namespace podsim {
namespace {

constexpr std::size_t kGoodputPoints = 120;

double days(Milliseconds time) { return static_cast<double>(time.ms) / kMsPerDay; }

// What was trained and lost later was lost in the slices before the failure.
void move_lost_training_back(std::vector<RunAccounts>& slices) {
  std::int64_t lost = 0;  // productive time that is owed by slices before
  for (auto slice = slices.rbegin(); slice != slices.rend(); ++slice) {
    slice->move(RunBucket::kProductive, RunBucket::kRecompute, lost);
    lost = std::max<std::int64_t>(0, -(*slice)[RunBucket::kProductive]);
    slice->move(RunBucket::kRecompute, RunBucket::kProductive, lost);
  }
}

std::vector<WeeksCourse::Slice> slices_of(const TrainingRun& run, const RunCourse& course) {
  std::vector<RunAccounts> accounts;
  RunAccounts before;
  for (const RunCourse::Moment& moment : course.moments) {
    RunAccounts slice;
    for (std::size_t b = 0; b < kRunBuckets; ++b) {
      const auto bucket = static_cast<RunBucket>(b);
      slice.charge(bucket, moment.accounts[bucket] - before[bucket]);
    }
    accounts.push_back(slice);
    before = moment.accounts;
  }
  move_lost_training_back(accounts);
  std::vector<WeeksCourse::Slice> slices;
  Milliseconds begin;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const std::int64_t trained = accounts[i][RunBucket::kProductive], whole = accounts[i].total();
    const Milliseconds end = course.moments[i].at;
    accounts[i].move(RunBucket::kProductive, RunBucket::kStraggler,
                     std::llround(run.straggler_share * static_cast<double>(trained)));
    accounts[i].move(RunBucket::kProductive, RunBucket::kInput,
                     std::llround(run.input_share * static_cast<double>(trained)));
    if (whole > 0) {
      WeeksCourse::Slice& slice = slices.emplace_back(WeeksCourse::Slice{days(begin), days(end), {}});
      for (std::size_t b = 0; b < kRunBuckets; ++b)
        slice.shares.push_back(static_cast<double>(accounts[i][static_cast<RunBucket>(b)]) /
                               static_cast<double>(whole));
    }
    begin = end;
  }
  return slices;
}

// Of the runs that go on until then.
std::vector<double> goodput_until(const TrainingRun& run, std::span<const RunCourse> courses,
                                  Milliseconds until) {
  std::vector<double> values;
  for (const RunCourse& course : courses) {
    if (course.moments.back().at < until) continue;
    const auto after = std::ranges::upper_bound(course.moments, until, {}, &RunCourse::Moment::at);
    if (after == course.moments.begin()) continue;
    const RunAccounts& accounts = (after - 1)->accounts;
    values.push_back((1 - run.straggler_share - run.input_share) *
                     static_cast<double>(accounts[RunBucket::kProductive]) /
                     static_cast<double>(accounts.total()));
  }
  return values;
}

}  // namespace

WeeksCourse weeks_course(const TrainingRun& run, std::span<const RunCourse> courses) {
  WeeksCourse result;
  const RunCourse& first = courses.front();
  result.slices = slices_of(run, first);
  for (const RunCourse::Failure& failure : first.strikes)
    result.failures.push_back(
        {days(failure.at), std::string(to_string(run.failures[failure.source].component))});
  result.runs = static_cast<int>(courses.size());
  const Milliseconds end = first.moments.back().at;
  for (std::size_t i = 1; i <= kGoodputPoints; ++i) {
    const Milliseconds until{end.ms * static_cast<std::int64_t>(i) /
                             static_cast<std::int64_t>(kGoodputPoints)};
    std::vector<double> values = goodput_until(run, courses, until);
    if (2 * values.size() < courses.size()) continue;
    const Spread spread = spread_of(std::move(values));
    result.goodput.push_back({days(until), spread.p10, spread.p50, spread.p90});
  }
  return result;
}

}  // namespace podsim
