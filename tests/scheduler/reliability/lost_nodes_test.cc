// Nodes that their owner takes away, slow ones that are swapped, and what strikes spares: weeks by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "scheduler/reliability/weeks/simulate_run.h"
#include "tests/rounds.h"
#include "tests/scheduler/reliability/small_run.h"

namespace podsim::lost_nodes_test {
namespace {

using testing::chip_s, testing::regular, testing::seconds, testing::small_run;

// The only slice is taken away from 400 s to 500 s, and meanwhile one of its nodes breaks.
TEST(LostNodes, chips_that_were_taken_away_are_not_in_repair) {
  TrainingRun run = small_run();
  run.nodes_per_unit = 4;
  run.units = 1;
  run.failures = {regular(400, 4), regular(450, 1)};
  run.failures[0].component = Component::kPreemption;
  run.failures[0].repair.mean_s = 100;
  run.failures[1].repair.mean_s = 70;  // until 520 s; struck when it is not there, it does not break
  run.length = seconds(600);
  const RunResult result = simulate_run(run, 1);
  EXPECT_EQ(chip_s(result, RunBucket::kTakenAway), 32 * 100);
  EXPECT_EQ(chip_s(result, RunBucket::kRepair), 0);
  run.failures[1].domain_nodes = 4;  // strikes nodes that are out already
  const RunResult both = simulate_run(run, 1);
  EXPECT_EQ(chip_s(both, RunBucket::kTakenAway), 32 * 100);
  EXPECT_EQ(chip_s(both, RunBucket::kRepair), 32 * 20);
}

// A node at 90 % from 400 s on, found at 450 s: a save of 10 s, then a spare takes its place, a restart of 30
// s, and the node is out until 460 + 200 s.
TEST(LostNodes, a_slow_node_is_found_and_swapped_for_a_spare) {
  TrainingRun run = small_run();
  run.checkpoints.interval = seconds(2000);
  run.spare_units = 1;
  run.failures = {regular(400, 1)};
  run.failures[0].slows_to = 0.9;
  run.failures[0].swapped_after.mean_s = 50;
  run.failures[0].repair.mean_s = 200;
  run.recovery.detection.mean_s = 20;  // it is known: not again
  run.recovery.restart.mean_s = 30;
  run.length = seconds(700);
  const RunResult result = simulate_run(run, 1);
  EXPECT_EQ(result.failures, std::vector<std::int64_t>{1});
  EXPECT_EQ(chip_s(result, RunBucket::kRecompute), 0);
  EXPECT_EQ(chip_s(result, RunBucket::kSave), 32 * 10);
  EXPECT_EQ(chip_s(result, RunBucket::kRestart), 32 * 30);
  EXPECT_EQ(chip_s(result, RunBucket::kDetection), 0);
  EXPECT_EQ(chip_s(result, RunBucket::kSlowedDown), 32 * 5);
  EXPECT_EQ(chip_s(result, RunBucket::kRepair), 8 * 200);
  EXPECT_EQ(chip_s(result, RunBucket::kProductive), 32 * (700 - 10 - 30 - 5));
}

// A node of the job and a spare, one of which is slow from 160 s on.
TrainingRun one_and_a_spare() {
  TrainingRun run = small_run();
  run.units = run.spare_units = 1;
  run.checkpoints.interval = seconds(2000);
  run.failures = {regular(160, 1)};
  run.failures[0].slows_to = 0.5;
  run.failures[0].repair.mean_s = 1000;
  run.length = seconds(300);
  return run;
}

TEST(LostNodes,
     a_slow_spare_slows_no_job_until_it_takes_a_place_in_it_and_a_slow_node_only_while_it_has_one) {
  TrainingRun run = one_and_a_spare();
  run.failures.push_back(regular(200, 1));  // stops and breaks one of both
  run.failures[1].repair.mean_s = 1000;
  int seen[2][2] = {};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const RunResult result = simulate_run(run, seed);
    const bool slows_job = result.failures[0] == 1, stops_job = result.failures[1] == 1;
    ++seen[slows_job][stops_job];
    const double slow_s = slows_job ? (stops_job ? 200 - 160 : 300 - 160) : (stops_job ? 300 - 200 : 0);
    EXPECT_EQ(chip_s(result, RunBucket::kSlowedDown), 8 * 0.5 * slow_s) << seed;
    EXPECT_EQ(result.interruptions, result.failures[1]) << seed;
  }
  for (const auto& by_stop : seen)
    for (const int runs : by_stop) EXPECT_GT(runs, 0);
}

// 32 nodes, of which 20 become slow in the run, with as many spares and without.
TEST(LostNodes, spares_change_nothing_about_how_often_and_how_much_the_job_is_slow) {
  const int seeds = testing::rounds(300);
  const auto mean_of = [&](int spares) {
    TrainingRun run = small_run();
    run.units = 32;
    run.spare_units = spares;
    run.length = seconds(100'000);
    run.checkpoints.interval = seconds(2000);
    FailureSource source;
    source.per_s = 20e-5 * (32 + spares) / 32;
    source.slows_to = 0.5;
    source.repair.mean_s = 1000;
    run.failures = {source};
    std::pair<double, double> mean;
    for (int seed = 1; seed <= seeds; ++seed) {
      const RunResult result = simulate_run(run, static_cast<std::uint64_t>(seed));
      mean.first += static_cast<double>(result.failures[0]) / seeds;
      mean.second += chip_s(result, RunBucket::kSlowedDown) / (32 * 8 * 1e5) / seeds;
    }
    return mean;
  };
  const auto [few, little] = mean_of(0);
  const auto [many, much] = mean_of(32);
  const double error = std::sqrt(20.0 / seeds);
  EXPECT_NEAR(few, 20, 4 * error);
  EXPECT_NEAR(many, 20, 4 * error);
  EXPECT_NEAR(much, little, 4 * std::sqrt(2.0) * little * error / 20 * 1.2);
}

// Found after 20 s: a node of the job is saved and swapped, a spare goes into repair without either.
TEST(LostNodes, a_slow_spare_that_is_found_is_mended_and_the_job_goes_on) {
  TrainingRun run = one_and_a_spare();
  run.failures[0].swapped_after.mean_s = 20;
  run.failures[0].repair.mean_s = 50;
  run.recovery.restart.mean_s = 30;
  int of_job = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RunResult result = simulate_run(run, seed);
    const auto strikes = static_cast<double>(result.failures[0]);
    of_job += static_cast<int>(strikes);
    EXPECT_EQ(static_cast<double>(result.interruptions), strikes);
    EXPECT_EQ(chip_s(result, RunBucket::kSave), 8 * 10 * strikes);
    EXPECT_EQ(chip_s(result, RunBucket::kRestart), 8 * 30 * strikes);
    EXPECT_EQ(chip_s(result, RunBucket::kSlowedDown), 8 * 0.5 * 20 * strikes);
    EXPECT_EQ(chip_s(result, RunBucket::kRepair), 8 * 50);
  }
  EXPECT_GT(of_job, 0);
  EXPECT_LT(of_job, 20);
}

TEST(LostNodes, the_job_saves_before_what_is_announced_of_its_own_nodes_alone) {
  TrainingRun run = one_and_a_spare();
  run.failures[0].slows_to = 0;
  run.failures[0].notice = seconds(20);
  std::int64_t saves = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RunResult result = simulate_run(run, seed);
    EXPECT_EQ(result.checkpoints, result.failures[0]);
    saves += result.checkpoints;
  }
  EXPECT_GT(saves, 0);
  EXPECT_LT(saves, 20);
}

// As in TrainingRuns.copies_in_memory_survive_so_many_nodes, of nodes that are good after the restart.
TEST(LostNodes, copies_in_memory_are_lost_with_more_units_than_survive_whether_they_need_repair_or_not) {
  TrainingRun run = small_run();
  run.checkpoints.replicas = Checkpoints::Replicas{seconds(1), {Delay::Kind::kFixed, 5, 0}, 3, 1};
  run.failures = {regular(252, 2)};
  run.length = seconds(310);
  const auto recomputed_s = [&] { return chip_s(simulate_run(run, 1), RunBucket::kRecompute) / 32; };
  for (const double repair_s : {0.0, 1.0}) {
    run.failures[0].repair.mean_s = repair_s;
    run.checkpoints.replicas->survives_units = 1;
    EXPECT_EQ(recomputed_s(), 250) << repair_s;
    run.checkpoints.replicas->survives_units = 2;
    EXPECT_EQ(recomputed_s(), 50) << repair_s;
  }
  run.failures[0].repair.mean_s = 0;
  run.checkpoints.replicas->survives_units = 1;
  run.nodes_per_unit = 2;  // both nodes are of one unit
  run.units = 2;
  EXPECT_EQ(recomputed_s(), 50);
}

}  // namespace
}  // namespace podsim::lost_nodes_test
