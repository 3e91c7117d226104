// Waiting for the slowest host: how it grows, what counts as a host, where it is booked.
#include <gtest/gtest.h>

#include "tests/scheduler/fixture.h"

namespace podsim::skew_test {
namespace {

using testing::collective;
using testing::milliseconds;

constexpr double kSkew = 0.02;  // per doubling

double ms(const Timeline& timeline, Bucket bucket) {
  return timeline.chips[0].bucket[static_cast<int>(bucket)].in_seconds() * 1e3;
}

// Data parallel on `chips` chips: 100 ms of computation and no collectives.
struct Case {
  Spec spec = testing::plain_spec();
  StepProgram program;

  Case(const FabricSpec& fabric, int chips) {
    spec.job.stack.skew_per_doubling = kSkew;
    spec.cluster.fabric = fabric;
    program = testing::pipeline_program({{{"data", chips}}}, PipelineSchedule::k1F1B, 1, 1, 1, 40, 60);
  }
  Timeline run() const {
    return testing::simulate_step(spec, program, build_fabric(spec.cluster.fabric), true).timeline;
  }
};

FabricSpec servers(int chips) {
  FabricSpec fabric = testing::gpu_fabric(chips, 2, 8);
  fabric.chips_per_host = 2;
  return fabric;
}

TEST(Skew, every_doubling_of_hosts_beyond_one_adds_the_same_share_of_computation) {
  EXPECT_DOUBLE_EQ(ms(Case(servers(2), 2).run(), Bucket::kSkew), 0);
  EXPECT_NEAR(ms(Case(servers(4), 4).run(), Bucket::kSkew), 2, 1e-9);
  EXPECT_NEAR(ms(Case(servers(16), 16).run(), Bucket::kSkew), 6, 1e-9);
}

TEST(Skew, is_a_bucket_of_its_own_beside_the_computation) {
  const Timeline timeline = Case(servers(16), 16).run();
  EXPECT_NEAR(ms(timeline, Bucket::kCompute), 100, 1e-9);
  EXPECT_NEAR(timeline.step_end.back().in_seconds() * 1e3, 106, 1e-9);
  Time sum;
  for (const Time part : timeline.chips[0].bucket) sum += part;
  EXPECT_EQ(sum, timeline.step_end.back());
}

TEST(Skew, a_job_on_part_of_the_cluster_counts_its_own_hosts) {
  EXPECT_NEAR(ms(Case(servers(16), 4).run(), Bucket::kSkew), 2, 1e-9);
}

// Chips of one slice run in lock step; slices do not.
TEST(Skew, on_tori_slices_count_and_not_hosts) {
  EXPECT_DOUBLE_EQ(ms(Case(testing::ring_fabric(8), 8).run(), Bucket::kSkew), 0);
  FabricSpec slices = testing::ring_fabric(8);
  slices.slices = 4;
  slices.torus->shape = {2, 1, 1};
  slices.dcn = {{25e9}, 1, Time::seconds(1e-6)};
  EXPECT_NEAR(ms(Case(slices, 8).run(), Bucket::kSkew), 4, 1e-9);
}

TEST(Skew, transfers_hide_behind_the_waiting_too) {
  Case c(servers(4), 4);
  c.spec.job.stack.gradients_overlapped = true;
  c.program.chunks[0][0].runs = {{0, 2}};
  testing::layer_of(c.program).gradient_reduce = {
      collective(CollectiveKind::kAllReduce, 1, 1e6, Purpose::kGradient)};
  const Timeline slower = c.run();
  const double exposed_ms = ms(slower, Bucket::kCommunication) + ms(slower, Bucket::kPeerWait);
  c.spec.job.stack.skew_per_doubling = 0;
  const Timeline faster = c.run();
  EXPECT_NEAR((slower.step_end.back() - faster.step_end.back()).in_seconds() * 1e3, 4, 1e-9);
  EXPECT_NEAR(exposed_ms, ms(faster, Bucket::kCommunication) + ms(faster, Bucket::kPeerWait), 1e-9);
}

TEST(Skew, slow_chips_take_longer_by_their_speed_as_without_it) {
  Case c(servers(4), 4);
  c.spec.adversities.add(Degradation::of_chip(1, 0.5));
  EXPECT_NEAR(c.run().step_end.back().in_seconds() * 1e3, 204, 1e-9);
}

}  // namespace
}  // namespace podsim::skew_test
