// Law: the folded system ends its step in the same picosecond as the whole one.
#include <gtest/gtest.h>

#include "tests/scheduler/random_step.h"

namespace podsim {
namespace {

using testing::collective;

struct RandomStep {
  Spec spec;
  StepProgram program;
  FabricSpec fabric;
};

RandomStep random_step(int round) {
  testing::Draw draw(round);
  const int stages = 1 << draw.below(3), data = 1 + draw.below(4), tensor = 1 << draw.below(3);
  RandomStep step;
  testing::RandomJob job = testing::random_job(draw, stages, data, tensor);
  step.spec = job.spec;
  step.program = job.program;
  const int chips = stages * data * tensor;
  if (draw.below(2)) {
    step.fabric = testing::ring_fabric(chips);
    step.fabric.torus->dimensions = 3;
    step.fabric.torus->shape = {tensor, data, stages};
  } else {
    const bool rails = draw.below(2);  // otherwise a leaf serves whole domains
    step.fabric = testing::gpu_fabric(chips, tensor, (rails ? 1 : tensor) * (1 + draw.below(4)));
    step.fabric.gpu->rail_optimised = rails;
    step.fabric.gpu->tiers[0].oversubscription = 1 + draw.below(3);
  }
  step.spec.adversities = testing::random_adversities(draw, step.fabric);
  step.spec.steps = 1 + draw.below(3);
  return step;
}

TEST(FoldLaw, folded_equals_unfolded_to_the_picosecond_on_200_random_systems) {
  int smaller = 0;
  for (int round = 0; round < 200; ++round) {
    RandomStep step = random_step(round);
    Fabric fabric = build_fabric(step.fabric);
    auto folded = testing::simulate_step(step.spec, step.program, fabric, true);
    auto whole = testing::simulate_step(step.spec, step.program, fabric, false);
    ASSERT_EQ(whole.system.chips.size(), static_cast<std::size_t>(fabric.chips));
    ASSERT_EQ(folded.timeline.step_end, whole.timeline.step_end) << "round " << round;
    ASSERT_EQ(testing::chip_time(folded.timeline), testing::chip_time(whole.timeline)) << "round " << round;
    auto a = testing::bytes_by_kind(folded.timeline), b = testing::bytes_by_kind(whole.timeline);
    for (auto [kind, bytes] : a) ASSERT_NEAR(bytes, b[kind], 1e-9 * bytes + 1e-6) << "round " << round;
    smaller += folded.system.chips.size() < whole.system.chips.size();
  }
  EXPECT_GT(smaller, 100) << "folding that never folds proves nothing";
}

TEST(Fold, a_symmetric_system_has_one_class_of_chips_per_stage) {
  RandomStep step = random_step(0);
  step.spec.adversities = {};
  Mesh mesh{{{"pipeline", 4}, {"data", 8}, {"tensor", 8}}};
  step.program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 4, 1, 8, 1, 2);
  testing::layer_of(step.program)
      .forward.push_back(collective(CollectiveKind::kAllReduce, 4, 1e6, Purpose::kActivation));
  testing::layer_of(step.program).gradient_reduce = {
      collective(CollectiveKind::kAllReduce, 2, 1e6, Purpose::kGradient)};
  testing::layer_of(step.program).output = {1e6};
  Fabric fabric = build_fabric(testing::gpu_fabric(256, 8, 4));
  EXPECT_EQ(testing::simulate_step(step.spec, step.program, fabric, true).system.chips.size(), 4u);
}

TEST(Fold, one_slow_chip_splits_only_what_it_touches) {
  Mesh mesh{{{"data", 16}}};
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 1, 2);
  testing::layer_of(program).gradient_reduce = {
      collective(CollectiveKind::kAllReduce, 1, 1e6, Purpose::kGradient)};
  spec.adversities.slow_chips = {{5, 0.5}};
  Fabric fabric = build_fabric(testing::ring_fabric(16));
  EXPECT_EQ(testing::simulate_step(spec, program, fabric, true).system.chips.size(), 2u);
}

}  // namespace
}  // namespace podsim
