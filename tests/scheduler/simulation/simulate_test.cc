// Rules of the event loop.
#include "scheduler/simulation/simulate.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/scheduler/fixture.h"

namespace podsim::simulate_test {
namespace {

using testing::collective;
using testing::milliseconds;

Time total(const ChipTotals& chip) {
  Time sum;
  for (Time bucket : chip.bucket) sum += bucket;
  return sum;
}

struct Ring {
  Spec spec = testing::plain_spec();
  Mesh mesh{{{"data", 8}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 5, 10);
  Fabric fabric = build_fabric(testing::ring_fabric(8));

  Ring() {
    program.chunks[0][0].runs = {{0, 4}};
    testing::layer_of(program).backward.push_back(
        collective(CollectiveKind::kAllReduce, 1, 64e6, Purpose::kActivation));
  }
  Timeline run(bool fold = true) const {
    return testing::simulate_step(spec, program, fabric, fold).timeline;
  }
};

TEST(Simulate, alone_on_its_links_a_collective_takes_its_predicted_time) {
  Ring ring;
  std::vector<ChipId> group(8);
  std::iota(group.begin(), group.end(), 0);
  Time reduce = predict(ring.fabric, plan(ring.fabric, {CollectiveKind::kAllReduce, {64e6}}, group));
  EXPECT_EQ(ring.run().step_end.back(), Time::seconds(60e-3) + 4 * reduce);
}

TEST(Simulate, every_picosecond_of_every_chip_is_in_one_bucket) {
  Ring ring;
  ring.spec.adversities.add(Degradation::of_chip(3, 0.7));
  ring.spec.adversities.add(Degradation::of_link(5, LinkKind::kIci, 0.5));
  Timeline timeline = ring.run(false);
  for (const ChipTotals& chip : timeline.chips) EXPECT_EQ(total(chip), timeline.step_end.back());
}

TEST(Simulate, everyone_waits_for_the_slow_chip_and_it_is_named) {
  Ring ring;
  Time clean = ring.run().step_end.back();
  ring.spec.adversities.add(Degradation::of_chip(3, 0.5));
  Timeline timeline = ring.run();
  EXPECT_EQ(timeline.step_end.back() - clean, Time::seconds(60e-3)) << "its computation takes twice as long";
  ASSERT_EQ(timeline.chips.size(), 2u);
  // The other 7 chips wait in backward for forward (20 ms) and backward (40 ms) of the slow one.
  EXPECT_EQ(timeline.chips[1].representative, 3);
  EXPECT_TRUE(timeline.chips[1].caused_ps == 7 * Time::seconds(60e-3).ps);
  EXPECT_EQ(timeline.chips[0].waited, Time::seconds(60e-3));
}

TEST(Simulate, a_slow_link_slows_the_ring_that_uses_it) {
  Ring ring;
  std::vector<ChipId> group(8);
  std::iota(group.begin(), group.end(), 0);
  ring.spec.adversities.add(Degradation::of_link(2, LinkKind::kIci, 0.25));
  Fabric slowed = with_slow_links(ring.fabric, slow_links(ring.spec.adversities.degradations));
  Time reduce = predict(slowed, plan(slowed, {CollectiveKind::kAllReduce, {64e6}}, group));
  EXPECT_EQ(ring.run().step_end.back(), Time::seconds(60e-3) + 4 * reduce);
}

TEST(Simulate, two_groups_that_share_a_link_get_half_of_it_each) {
  // Two GPUs per domain, one mesh axis across domains: both rings of a domain pair use their own NICs; at a
  // 2:1 leaf they meet.
  Spec spec = testing::plain_spec();
  FabricSpec fabric_spec = testing::gpu_fabric(4, 2, 2);
  fabric_spec.gpu->rail_optimised = false;
  fabric_spec.gpu->tiers = {{2, 2}, {2, 1}};
  Fabric fabric = build_fabric(fabric_spec);
  Mesh mesh{{{"data", 2}, {"other", 2}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 0, 0);
  testing::layer_of(program).forward = {
      collective(CollectiveKind::kAllReduce, 1, 100e6, Purpose::kActivation)};
  Timeline timeline = testing::simulate_step(spec, program, fabric, true).timeline;
  // Each ring moves 2 (n-1)/n x 100 MB = 100 MB through the leaf's 50 GB/s uplink, together 200 MB: 4 ms.
  EXPECT_NEAR(timeline.step_end.back().in_seconds(), 4e-3, 20e-6);
}

TEST(Simulate, bytes_on_links_are_those_of_the_plans) {
  Ring ring;
  Timeline timeline = ring.run(false);
  double carried = 0;
  for (const LinkTotals& link : timeline.links) carried += static_cast<double>(link.links) * link.bytes.value;
  EXPECT_NEAR(carried, 4 * 2 * 7 * 64e6, 1);
}

TEST(Simulate, the_same_seed_gives_the_same_steps_and_another_seed_does_not) {
  Ring ring;
  ring.spec.adversities.jitter.coefficient_of_variation = 0.05;
  ring.spec.steps = 3;
  Timeline a = ring.run(), b = ring.run();
  EXPECT_EQ(a.step_end, b.step_end);
  ASSERT_EQ(a.step_end.size(), 3u);
  EXPECT_NE(a.step_end[1] - a.step_end[0], a.step_end[2] - a.step_end[1]);
  ring.spec.seed = 2;
  EXPECT_NE(ring.run().step_end, a.step_end);
}

TEST(Simulate, blocking_sends_are_charged_to_the_bubble) {
  Mesh mesh{{{"pipeline", 2}}};
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 2, 1, 1, 5, 10);
  testing::layer_of(program).output = {400e6};  // 1 ms over NVLink
  Fabric fabric = build_fabric(testing::gpu_fabric(2, 2, 2));
  Timeline timeline = testing::simulate_step(spec, program, fabric, true).timeline;
  Time send = Time::seconds(1e-3 + 2 * 0.5e-6);
  EXPECT_EQ(timeline.step_end.back(), Time::seconds(30e-3) + 2 * send);
  EXPECT_EQ(timeline.chips[0].bucket[static_cast<int>(Bucket::kBubble)], Time::seconds(15e-3) + 2 * send);
}

}  // namespace
}  // namespace podsim::simulate_test
