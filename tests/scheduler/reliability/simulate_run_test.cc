// Training runs of weeks: hand-computed ones, conservation of chip-time, agreement with the closed forms.
#include "scheduler/reliability/weeks/simulate_run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduler/reliability/weeks/closed_forms.h"
#include "tests/rounds.h"
#include "tests/scheduler/reliability/small_run.h"

namespace podsim::simulate_run_test {
namespace {

using testing::chip_s, testing::regular, testing::seconds, testing::small_run;

constexpr double kDay = 86400;

TEST(TrainingRuns, without_failures_training_and_saves_take_turns) {
  const RunResult result = simulate_run(small_run(), 1);
  EXPECT_EQ(result.checkpoints, 9);  // after 110 s each; the tenth would end at 1,100 s
  EXPECT_EQ(chip_s(result, RunBucket::kSave), 32 * 9 * 10);
  EXPECT_EQ(chip_s(result, RunBucket::kProductive), 32 * 910);
  EXPECT_EQ(result.accounts.total(), 32 * 1'000'000);
  EXPECT_FALSE(result.finished);
}

TEST(TrainingRuns, told_as_they_go_are_the_same_and_every_moment_accounts_for_all_chip_time) {
  TrainingRun run = small_run();
  run.failures = {regular(400, 0)};
  RunCourse course{seconds(100), {}, {}};
  const RunResult result = simulate_run(run, 1, &course);
  EXPECT_EQ(result, simulate_run(run, 1));
  ASSERT_GE(course.moments.size(), 5u);
  for (const RunCourse::Moment& moment : course.moments)
    EXPECT_EQ(moment.accounts.total(), run.chips() * moment.at.ms);
  EXPECT_EQ(course.moments.back().at, result.end);
  EXPECT_EQ(course.moments.back().accounts, result.accounts);
  ASSERT_EQ(static_cast<std::int64_t>(course.strikes.size()), result.failures.front());
  EXPECT_EQ(course.strikes.front().at, seconds(400));
}

// A failure at 400 s: saved at 110, 220 and 330 s; 70 s of training since are lost. Recovery 60 s, then from
// 460 s three more rounds and 210 s.
TEST(TrainingRuns, a_failure_loses_what_was_trained_since_the_checkpoint) {
  TrainingRun run = small_run();
  run.failures = {regular(400, 0)};
  run.recovery.detection.mean_s = 20;
  run.recovery.restart.mean_s = 30;
  run.recovery.restore.mean_s = 10;
  run.length = seconds(700);
  const RunResult result = simulate_run(run, 1);
  EXPECT_EQ(result.interruptions, 1);
  EXPECT_EQ(result.failures, std::vector<std::int64_t>{1});
  EXPECT_EQ(chip_s(result, RunBucket::kRecompute), 32 * 70);
  EXPECT_EQ(chip_s(result, RunBucket::kDetection), 32 * 20);
  EXPECT_EQ(chip_s(result, RunBucket::kRestart), 32 * 30);
  EXPECT_EQ(chip_s(result, RunBucket::kRestore), 32 * 10);
  EXPECT_EQ(chip_s(result, RunBucket::kSave), 32 * 50);  // three before, two after
  EXPECT_EQ(chip_s(result, RunBucket::kProductive), 32 * (700 - 70 - 60 - 50));
}

TEST(TrainingRuns, a_checkpoint_that_was_not_finished_does_not_count) {
  TrainingRun run = small_run();
  run.failures = {regular(105, 0)};
  run.length = seconds(106);
  EXPECT_EQ(chip_s(simulate_run(run, 1), RunBucket::kRecompute), 32 * 100);
}

// Saved at 100 s with a pause of 2 s, usable at 142 s: a failure at 130 s loses all 128 s, one at 150 s only
// what was trained after the pause.
TEST(TrainingRuns, an_asynchronous_checkpoint_counts_when_it_is_written) {
  TrainingRun run = small_run();
  run.checkpoints.pause = seconds(2);
  run.checkpoints.persist = seconds(40);
  run.failures = {regular(130, 0)};
  run.length = seconds(131);
  EXPECT_EQ(chip_s(simulate_run(run, 1), RunBucket::kRecompute), 32 * 128);
  run.failures = {regular(150, 0)};
  run.length = seconds(151);
  EXPECT_EQ(chip_s(simulate_run(run, 1), RunBucket::kRecompute), 32 * 48);
}

// Copies in memory after each 100 s, to storage each third time. A failure of one node at 252 s goes back to
// what was saved at 201 s, one of two nodes to the start.
TEST(TrainingRuns, copies_in_memory_survive_so_many_nodes) {
  TrainingRun run = small_run();
  run.checkpoints.replicas = Checkpoints::Replicas{seconds(1), {Delay::Kind::kFixed, 5, 0}, 3, 1};
  run.recovery.restore.mean_s = 50;
  run.failures = {regular(252, 1)};
  run.failures[0].repair.mean_s = 1;
  run.length = seconds(310);
  const RunResult one = simulate_run(run, 1);
  EXPECT_EQ(chip_s(one, RunBucket::kRecompute), 32 * 50);
  EXPECT_EQ(chip_s(one, RunBucket::kRestore), 32 * 5);
  run.failures[0].domain_nodes = 2;
  const RunResult two = simulate_run(run, 1);
  EXPECT_EQ(chip_s(two, RunBucket::kRecompute), 32 * 250);
  EXPECT_EQ(chip_s(two, RunBucket::kRestore), 32 * 50);
}

// The only node is out from 400 s to 500 s.
TEST(TrainingRuns, without_spares_the_job_waits_for_the_repair) {
  TrainingRun run = small_run();
  run.failures = {regular(400, 1)};
  run.failures[0].repair.mean_s = 100;
  run.length = seconds(600);
  const RunResult result = simulate_run(run, 1);
  EXPECT_EQ(chip_s(result, RunBucket::kWaiting), 24 * 100);
  EXPECT_EQ(chip_s(result, RunBucket::kRepair), 8 * 100);
  EXPECT_EQ(chip_s(result, RunBucket::kIdleSpare), 0);
}

TEST(TrainingRuns, a_spare_takes_over_and_the_mended_node_is_spare) {
  TrainingRun run = small_run();
  run.spare_units = 1;
  run.failures = {regular(400, 5)};  // all nodes, with the spare
  run.failures[0].repair.mean_s = 100;
  run.length = seconds(510);
  EXPECT_EQ(chip_s(simulate_run(run, 1), RunBucket::kRepair), 40 * 100);
  EXPECT_EQ(chip_s(simulate_run(run, 1), RunBucket::kIdleSpare), 8 * 410);
  // One node at a time: the job never waits, a spare is made ready.
  run.failures[0].domain_nodes = 1;
  run.recovery.scheduling.mean_s = 7;
  int replaced = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RunResult result = simulate_run(run, seed);
    EXPECT_EQ(chip_s(result, RunBucket::kWaiting), 0);
    EXPECT_EQ(chip_s(result, RunBucket::kScheduling), result.interruptions * 32 * 7);
    replaced += static_cast<int>(result.interruptions);
  }
  EXPECT_GT(replaced, 0);   // the job was struck in four of five
  EXPECT_LT(replaced, 20);  // or the spare
}

TEST(TrainingRuns, one_crew_repairs_one_after_the_other) {
  TrainingRun run = small_run();
  run.failures = {regular(400, 1), regular(401, 1)};
  for (FailureSource& source : run.failures) source.repair.mean_s = 100;
  run.length = seconds(700);
  double both = 0, one = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run.repair_crews = 0;
    both += chip_s(simulate_run(run, seed), RunBucket::kRepair);
    run.repair_crews = 1;
    one += chip_s(simulate_run(run, seed), RunBucket::kRepair);
  }
  EXPECT_GT(one, both);
}

TEST(TrainingRuns, what_is_announced_is_saved_before) {
  TrainingRun run = small_run();
  run.failures = {regular(350, 0)};
  run.failures[0].notice = seconds(10);
  run.recovery.detection.mean_s = 1000;  // not for what is announced
  run.length = seconds(361);
  const RunResult result = simulate_run(run, 1);
  EXPECT_EQ(chip_s(result, RunBucket::kRecompute), 0);
  EXPECT_EQ(chip_s(result, RunBucket::kDetection), 0);
  EXPECT_EQ(result.interruptions, 1);
}

// Two replicas of two nodes; one node is out from 450 s to 550 s and the rest goes on at 90 %.
TEST(TrainingRuns, an_elastic_job_goes_on_with_fewer_replicas) {
  TrainingRun run = small_run();
  run.elastic = Elastic{2, 1, {Delay::Kind::kFixed, 5, 0}, true, 0.9};
  run.checkpoints.interval = seconds(1000);
  run.failures = {regular(450, 1)};
  run.failures[0].repair.mean_s = 100;
  run.length = seconds(600);
  const RunResult result = simulate_run(run, 1);
  EXPECT_EQ(chip_s(result, RunBucket::kRecompute), 0);
  EXPECT_EQ(chip_s(result, RunBucket::kReconfigure), 24 * 5 + 32 * 5);
  EXPECT_EQ(chip_s(result, RunBucket::kRepair), 8 * 100);
  EXPECT_EQ(chip_s(result, RunBucket::kWaiting), 8 * 95);
  EXPECT_NEAR(chip_s(result, RunBucket::kSlowedDown), 0.1 * 16 * 95, 1e-9);
  EXPECT_EQ(chip_s(result, RunBucket::kProductive), 32 * 450 + 0.9 * 16 * 95 + 32 * 45);
}

TEST(TrainingRuns, a_run_ends_when_its_work_is_done) {
  TrainingRun run = small_run();
  run.work_chip_ms = 32 * 250'000;
  const RunResult result = simulate_run(run, 1);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.end.ms, 270'000);  // two saves
  EXPECT_EQ(result.work_chip_ms, 32 * 250'000);
}

TEST(TrainingRuns, stragglers_and_input_take_their_share_of_the_training_that_is_kept) {
  TrainingRun run = small_run();
  run.straggler_share = 0.1;
  run.input_share = 0.05;
  const RunResult result = simulate_run(run, 1);
  EXPECT_EQ(chip_s(result, RunBucket::kStraggler), 0.1 * 32 * 910);
  EXPECT_EQ(chip_s(result, RunBucket::kInput), 0.05 * 32 * 910);
  EXPECT_EQ(result.work_chip_ms, 32 * 910'000);
}

TEST(TrainingRuns, another_source_does_not_shift_what_a_source_draws) {
  TrainingRun run = small_run();
  run.length = seconds(100 * kDay);
  run.checkpoints.interval = seconds(3600);
  FailureSource source;
  source.per_s = 1 / kDay;
  run.failures = {source};
  const std::int64_t alone = simulate_run(run, 5).failures[0];
  source.per_s = 3 / kDay;
  run.failures.push_back(source);
  EXPECT_EQ(simulate_run(run, 5).failures[0], alone);
}

// At 90 % from 400 s to 500 s; twice at once 81 %.
TEST(TrainingRuns, what_only_slows_does_not_stop_the_job) {
  TrainingRun run = small_run();
  run.checkpoints.interval = seconds(2000);
  run.failures = {regular(400, 0)};
  run.failures[0].slows_to = 0.9;
  run.failures[0].repair.mean_s = 100;
  run.length = seconds(700);
  const RunResult one = simulate_run(run, 1);
  EXPECT_EQ(one.interruptions, 0);
  EXPECT_EQ(chip_s(one, RunBucket::kSlowedDown), 32 * 10);
  EXPECT_EQ(chip_s(one, RunBucket::kProductive), 32 * 690);
  run.failures.push_back(run.failures[0]);
  EXPECT_EQ(chip_s(simulate_run(run, 1), RunBucket::kSlowedDown), 32 * 19);
  run.failures.pop_back();
  run.work_chip_ms = 32 * 600'000;
  EXPECT_EQ(simulate_run(run, 1).end.ms, 610'000);
}

double mean_failures(const TrainingRun& run, int seeds) {
  double sum = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    for (const std::int64_t count : simulate_run(run, static_cast<std::uint64_t>(seed)).failures)
      sum += static_cast<double>(count);
  return sum / seeds;
}

// 100 nodes, 1 failure a day among them; 5 lemons fail 21 times as often: 2 a day.
TEST(TrainingRuns, lemons_fail_more_often_until_they_are_removed) {
  TrainingRun run = small_run();
  run.units = 100;
  run.length = seconds(50 * kDay);
  run.checkpoints.interval = seconds(3600);
  FailureSource source;
  source.per_s = 1 / kDay;
  run.failures = {source};
  run.lemons = {5, 21, 0};
  const int seeds = testing::rounds(200);
  EXPECT_NEAR(interruptions_per_s(run) * kDay, 2, 1e-12);
  EXPECT_NEAR(mean_failures(run, seeds), 100, 3 * std::sqrt(100.0 / seeds));
  run.lemons.removed_after = 2;  // each is struck ten times in the run by being a lemon: all are found
  EXPECT_NEAR(mean_failures(run, seeds), 50 + 5 * 2, 3 * std::sqrt(55.0 / seeds) + 0.1);
}

// The factor decays from 5 with a time of 5 days: 4 x 5 days more failures than one a day. Wear from day 30
// adds (t - 30) / 10 a day: 20 in 20 days. A diurnal swing changes nothing over whole days.
TEST(TrainingRuns, hazards_change_the_rate_of_node_failures_only) {
  TrainingRun run = small_run();
  run.length = seconds(50 * kDay);
  run.checkpoints.interval = seconds(3600);
  FailureSource source;
  source.per_s = 1 / kDay;
  run.failures = {source};
  run.hazard.infant_factor = 5;
  run.hazard.infant_decay_s = 5 * kDay;
  const int seeds = testing::rounds(400);
  EXPECT_NEAR(mean_failures(run, seeds), 70, 3 * std::sqrt(70.0 / seeds));
  run.hazard.wear_begins_s = 30 * kDay;
  run.hazard.wear_doubles_s = 10 * kDay;
  run.hazard.diurnal_swing = 0.5;
  EXPECT_NEAR(mean_failures(run, seeds), 90, 3 * std::sqrt(90.0 / seeds));
  run.failures[0].domain_nodes = 0;
  EXPECT_NEAR(mean_failures(run, seeds), 50, 3 * std::sqrt(50.0 / seeds));
}

TEST(TrainingRuns, a_hazard_is_never_above_its_most) {
  Hazard hazard{3, 2 * kDay, 10 * kDay, 5 * kDay, 0.3, 6 * 3600};
  for (int hour = 0; hour < 24 * 40; ++hour)
    EXPECT_LE(hazard.factor(3600.0 * hour), hazard.most(40 * kDay)) << hour;
  EXPECT_NEAR(Hazard{}.factor(5), 1, 0);
}

// The 54 days of Llama 3 405B on 2,048 nodes: 419 failures, 30 s saves, 5 min restarts.
struct Means {
  double goodput, goodput_error, failures, failures_error, goodput_deviation;
};
Means llama(int seeds) {
  TrainingRun run;
  run.units = 2048;
  run.length = seconds(54 * kDay);
  FailureSource source;
  source.per_s = 419 / (54 * kDay);
  run.failures = {source};
  run.recovery.restart.mean_s = 300;
  run.checkpoints.pause = seconds(30);
  run.checkpoints.interval = seconds(young_interval_s(30, 54 * kDay / 419));
  double goodput = 0, goodput2 = 0, failures = 0, failures2 = 0;
  for (int k = 0; k < seeds; ++k) {
    const RunResult result = simulate_run(run, static_cast<std::uint64_t>(k + 1));
    const double share = static_cast<double>(result.accounts[RunBucket::kProductive]) /
                         static_cast<double>(result.accounts.total());
    const auto count = static_cast<double>(result.failures[0]);
    goodput += share, goodput2 += share * share, failures += count, failures2 += count * count;
  }
  const double n = seeds;
  const auto error = [&](double sum, double squares) {
    return std::sqrt((squares - sum * sum / n) / (n - 1) / n);
  };
  return {goodput / n, error(goodput, goodput2), failures / n, error(failures, failures2),
          error(goodput, goodput2) * std::sqrt(n)};
}

TEST(TrainingRuns, goodput_and_failures_of_many_runs_are_those_of_the_formulas) {
  const Means means = llama(testing::rounds(2000));
  EXPECT_NEAR(means.failures, 419, 3 * means.failures_error);
  EXPECT_NEAR(means.failures_error * std::sqrt(testing::rounds(2000)), std::sqrt(419), 3);
  const double mttf = 54 * kDay / 419;
  EXPECT_NEAR(means.goodput, checkpointed_goodput(young_interval_s(30, mttf), 30, 300, mttf),
              3 * means.goodput_error);
  EXPECT_NEAR(means.goodput_deviation, 0.0031, 5e-4);
}

// Random plans: chip-time adds up (checked inside), shares are shares, same seed same result.
TEST(TrainingRuns, random_plans_account_for_all_time) {
  const auto draw = [](std::uint64_t plan, std::uint64_t what, int most) {
    return static_cast<int>(random_bits(plan, RandomPurpose::kTest, what, 0) %
                            static_cast<std::uint64_t>(most + 1));
  };
  for (int p = 0; p < testing::rounds(500); ++p) {
    const auto plan = static_cast<std::uint64_t>(p);
    TrainingRun run;
    run.nodes_per_unit = 1 + draw(plan, 0, 3);
    run.units = 2 * (1 + draw(plan, 1, 5));
    run.spare_units = draw(plan, 2, 3);
    run.repair_crews = draw(plan, 3, 2);
    run.length = seconds(5 * kDay);
    for (int s = 0; s < 3; ++s) {
      const auto what = static_cast<std::uint64_t>(10 * (s + 1));
      FailureSource source;
      source.per_s = (1 + draw(plan, what, 20)) / kDay;
      source.regular = draw(plan, what + 1, 3) == 0;
      source.domain_nodes = draw(plan, what + 2, 5);
      source.repair = {static_cast<Delay::Kind>(draw(plan, what + 3, 2)), 1000.0 * draw(plan, what + 4, 30),
                       0.5};
      source.notice = seconds(20.0 * draw(plan, what + 5, 3));
      if (source.repair.mean_s > 0 && draw(plan, what + 6, 3) == 0) source.slows_to = 0.8;
      if (draw(plan, what + 7, 1) == 0) source.swapped_after.mean_s = 900;
      run.failures.push_back(source);
    }
    run.lemons = {draw(plan, 40, 2), 10, draw(plan, 41, 2)};
    run.hazard.infant_factor = 1 + draw(plan, 42, 2);
    run.hazard.infant_decay_s = kDay;
    run.recovery.detection = {Delay::Kind::kExponential, 10.0 * draw(plan, 4, 20), 0};
    run.recovery.restart = {Delay::Kind::kLognormal, 300, 0.3};
    run.recovery.scheduling = {Delay::Kind::kFixed, 30, 0};
    run.checkpoints.interval = seconds(600);
    run.checkpoints.pause = seconds(draw(plan, 5, 40));
    run.checkpoints.persist = seconds(draw(plan, 6, 300));
    if (draw(plan, 7, 1) == 1) run.checkpoints.replicas = Checkpoints::Replicas{seconds(1), {}, 4, 1};
    if (draw(plan, 8, 1) == 1)
      run.elastic = Elastic{run.units / 2, 1, {Delay::Kind::kFixed, 20, 0}, draw(plan, 9, 1) == 1, 0.9};
    const RunResult result = simulate_run(run, plan);
    EXPECT_EQ(result.accounts.total(), run.chips() * run.length.ms) << p;
    EXPECT_LE(result.work_chip_ms, run.job_chips() * run.length.ms) << p;
    for (std::size_t b = 0; b < kRunBuckets; ++b)
      EXPECT_GE(result.accounts[static_cast<RunBucket>(b)], 0) << p << " " << b;
    EXPECT_EQ(result, simulate_run(run, plan)) << p;
  }
}

}  // namespace
}  // namespace podsim::simulate_run_test
