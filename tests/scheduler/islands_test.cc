// Replicas one by one: which parts of a system come apart, and that nothing else changes.
#include "scheduler/islands.h"

#include <gtest/gtest.h>

#include "tests/rounds.h"
#include "tests/scheduler/random_overlap.h"

namespace podsim {
namespace {

using testing::collective;

// Pipelines of two stages with two tensor ranks each, every chip a class of its own.
System pipelines(int replicas) {
  const Fabric fabric = build_fabric(testing::gpu_fabric(4 * replicas, 2, 2));
  const Mesh mesh{{{"pipeline", 2}, {"data", replicas}, {"tensor", 2}}};
  constexpr AxisSet kData = 2, kTensor = 4;
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 2, 1, 4, 1, 2);
  testing::layer_of(program).forward.push_back(
      collective(CollectiveKind::kAllReduce, kTensor, 1e6, Purpose::kActivation));
  testing::layer_of(program).backward.push_back(
      collective(CollectiveKind::kAllReduce, kData, 1e6, Purpose::kGradient));
  const LaidJob job = testing::lay(testing::plain_spec(), program, fabric, 0);
  return assemble(fabric, {&job, 1}, {}, false);
}

TEST(Islands, are_the_replicas_of_a_data_parallel_pipeline) {
  const System system = pipelines(3);
  const Lanes lanes(system);
  const Islands islands = find_islands(system, lanes);
  ASSERT_EQ(islands.chips.size(), 3u);
  EXPECT_EQ(islands.chips[0], (std::vector<std::int32_t>{0, 1, 6, 7}));
  EXPECT_EQ(islands.chips[2], (std::vector<std::int32_t>{4, 5, 10, 11}));
  for (std::size_t m = 0; m < lanes.meetings().size(); ++m)
    EXPECT_EQ(islands.of_meeting[m] == Islands::kShared, lanes.meetings()[m].stream == Stream::kGradient);
}

TEST(Islands, one_replica_does_not_come_apart) {
  const System system = pipelines(1);
  EXPECT_FALSE(find_islands(system, Lanes(system)).any());
}

TEST(IslandsLaw, one_by_one_equals_together_to_the_picosecond_on_2000_random_systems) {
  int apart = 0;
  for (int round = 0; round < testing::rounds(2000); ++round) {
    testing::RandomOverlap random = testing::random_overlap(round);
    if (random.system.meshes.size() > 1 || random.options.jitter == 0) continue;
    random.options.apart_from = SIZE_MAX;
    const Timeline together = simulate(random.system, random.options).front();
    random.options.apart_from = 2;
    const Timeline one_by_one = simulate(random.system, random.options).front();
    ASSERT_EQ(testing::figures(together), testing::figures(one_by_one)) << "round " << round;
    ASSERT_EQ(together.events, one_by_one.events) << "round " << round;
    apart += random.options.may_come_apart(random.system) &&
             find_islands(random.system, Lanes(random.system)).any();
  }
  EXPECT_GE(apart, testing::rounds(2000) / 20) << "what never comes apart proves nothing";
}

}  // namespace
}  // namespace podsim
