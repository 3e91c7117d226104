// Law: the folded system ends its step in the same picosecond as the whole one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_system.h"

namespace podsim::fold_test {
namespace {

using testing::collective;

constexpr int kSystems = testing::rounds(1000);

std::vector<Timeline> run(const testing::RandomSystem& random, bool fold) {
  return testing::simulate_jobs(random.fabric, random.jobs, random.steps, fold, random.adversities);
}

// A chip that stands for its class has spent its time as it does when every chip is simulated.
void expect_same(const Timeline& folded, const Timeline& whole) {
  ASSERT_EQ(folded.step_end, whole.step_end);
  ASSERT_EQ(testing::chip_time(folded), testing::chip_time(whole));
  for (const ChipTotals& chip : folded.chips) {
    const auto alone = std::find_if(whole.chips.begin(), whole.chips.end(), [&](const ChipTotals& other) {
      return other.representative == chip.representative;
    });
    ASSERT_NE(alone, whole.chips.end());
    ASSERT_EQ(chip.bucket, alone->bucket) << "chip " << chip.representative;
    ASSERT_EQ(chip.exposed, alone->exposed) << "chip " << chip.representative;
    ASSERT_EQ(chip.waited, alone->waited) << "chip " << chip.representative;
  }
  auto bytes = testing::bytes_by_kind(whole);
  for (const auto& [kind, sum] : testing::bytes_by_kind(folded))
    ASSERT_NEAR(sum, bytes[kind], 1e-9 * sum + 1e-6);
}

TEST(FoldLaw, folded_equals_unfolded_to_the_picosecond_on_1000_random_systems) {
  int smaller = 0, damaged = 0, changing = 0;
  for (int round = 0; round < kSystems; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const testing::RandomSystem random = testing::random_system(round);
    const std::vector<Timeline> folded = run(random, true), whole = run(random, false);
    damaged += random.fabric.damaged;
    changing += random.adversities.changing();
    for (std::size_t job = 0; job < folded.size(); ++job) {
      ASSERT_NO_FATAL_FAILURE(expect_same(folded[job], whole[job]));
      smaller += folded[job].chips.size() < whole[job].chips.size();
    }
  }
  EXPECT_GT(smaller, kSystems / 2) << "folding that never folds proves nothing";
  EXPECT_GT(damaged, kSystems / 10);
  EXPECT_GT(changing, kSystems / 5) << "speeds that never change prove little";
}

TEST(Fold, a_symmetric_system_has_one_class_of_chips_per_stage) {
  const Spec spec = testing::plain_spec();
  const Mesh mesh{{{"pipeline", 4}, {"data", 8}, {"tensor", 8}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 4, 1, 8, 1, 2);
  testing::layer_of(program).forward.push_back(
      collective(CollectiveKind::kAllReduce, 4, 1e6, Purpose::kActivation));
  testing::layer_of(program).gradient_reduce = {
      collective(CollectiveKind::kAllReduce, 2, 1e6, Purpose::kGradient)};
  testing::layer_of(program).output = {1e6};
  Fabric fabric = build_fabric(testing::gpu_fabric(256, 8, 4));
  EXPECT_EQ(testing::simulate_step(spec, program, fabric, true).system.chips.size(), 4u);
}

TEST(Fold, one_slow_chip_splits_only_what_it_touches) {
  Mesh mesh{{{"data", 16}}};
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 1, 2);
  testing::layer_of(program).gradient_reduce = {
      collective(CollectiveKind::kAllReduce, 1, 1e6, Purpose::kGradient)};
  spec.adversities.add(Degradation::of_chip(5, 0.5));
  Fabric fabric = build_fabric(testing::ring_fabric(16));
  EXPECT_EQ(testing::simulate_step(spec, program, fabric, true).system.chips.size(), 2u);
}

}  // namespace
}  // namespace podsim::fold_test
