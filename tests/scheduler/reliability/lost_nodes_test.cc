// Nodes that their owner takes away, and slow ones that are swapped: weeks by hand.
#include <gtest/gtest.h>

#include "scheduler/reliability/weeks/simulate_run.h"
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

}  // namespace
}  // namespace podsim::lost_nodes_test
