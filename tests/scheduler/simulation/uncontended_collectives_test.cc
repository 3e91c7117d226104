// Law: what is known ahead of collectives that are alone is what the fluid solver finds of them step by step.
#include "scheduler/simulation/state/uncontended_collectives.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "scheduler/folding/laid_job.h"
#include "scheduler/simulation/state/group_messages.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_overlap.h"

namespace podsim::uncontended_collectives_test {
namespace {

using testing::collective;

TEST(LoneCollectivesLaw, known_ahead_equals_step_by_step_to_the_picosecond_on_500_random_systems) {
  std::int64_t events = 0, shared_events = 0;
  for (int round = 0; round < testing::rounds(500); ++round) {
    testing::RandomOverlap random = testing::random_overlap(round);
    random.options.keep_intervals = true;
    const std::vector<Timeline> ahead = simulate(random.system, random.options);
    random.options.share_all_links = true;
    const std::vector<Timeline> shared = simulate(random.system, random.options);
    for (std::size_t j = 0; j < ahead.size(); ++j)
      ASSERT_EQ(testing::figures(ahead[j]), testing::figures(shared[j])) << "round " << round << " job " << j;
    events += ahead.front().events;
    shared_events += shared.front().events;
  }
  EXPECT_LT(events, shared_events * 9 / 10) << "what is never alone proves nothing";
}

TEST(GroupMessages, number_each_pair_of_a_group_and_a_message_of_its_communicator_once) {
  System system;
  system.communicator_of = {2, 0, 2, 0, 0};  // nobody sends anything over 1 and 3
  for (const int communicator : {0, 0, 1, 2, 2, 2, 3})
    system.groups.push_back(GroupClass{communicator, 1, {}, {}});
  const GroupMessages numbers(system);
  EXPECT_EQ(numbers.size(), 2u * 3 + 3 * 2);
  std::vector<bool> given(numbers.size(), false);
  for (std::size_t group = 0; group < system.groups.size(); ++group)
    for (std::size_t message = 0; message < system.communicator_of.size(); ++message) {
      if (system.groups[group].communicator != system.communicator_of[message]) continue;
      const std::size_t number =
          numbers(static_cast<std::int32_t>(group), static_cast<std::int32_t>(message));
      ASSERT_LT(number, given.size());
      EXPECT_FALSE(given[number]) << "group " << group << ", message " << message;
      given[number] = true;
    }
}

// Two GPUs per domain over one leaf each of 50 GB/s: both rings between the domains meet there.
TEST(UncontendedCollectives, one_that_is_joined_half_way_goes_on_at_half_the_rate) {
  const Spec spec = testing::plain_spec();
  FabricSpec fabric_spec = testing::gpu_fabric(4, 2, 2);
  fabric_spec.gpu->rail_optimised = false;
  fabric_spec.gpu->tiers = {{2, 2}, {2, 1}};
  const Fabric fabric = build_fabric(fabric_spec);
  const Mesh mesh{{{"data", 2}, {"other", 2}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 1, 0);
  testing::layer_of(program).forward.push_back(
      collective(CollectiveKind::kAllReduce, 1, 100e6, Purpose::kActivation));
  Adversities adversities;
  const auto end_with = [&](double speed) {
    adversities.degradations = {Degradation::of_chip(1, speed)};
    const LaidJob job = testing::lay(spec, program, fabric, 0);
    return simulate(assemble(fabric, {&job, 1}, adversities, true), {}).front().step_end.back().in_seconds();
  };
  // Alone 100 MB take 2 ms on a ring's own 50 GB/s, both at once 4 ms. Chip 1 is a millisecond late: its ring
  // meets the other's second millisecond, and has the last millisecond of its own for itself.
  EXPECT_NEAR(end_with(1), 1e-3 + 4e-3, 20e-6);
  EXPECT_NEAR(end_with(0.5), 2e-3 + 3e-3, 20e-6);
}

}  // namespace
}  // namespace podsim::uncontended_collectives_test
