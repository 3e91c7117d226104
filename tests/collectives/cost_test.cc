// Tests of predicted time, of the lower bound, and of bus bandwidth.
#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim::cost_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;

TEST(Predict, adds_launch_latencies_and_the_busiest_link_of_each_phase) {
  const Fabric fabric = torus({4, 1, 1});
  CollectivePlan plan;
  plan.launch = Time{7};
  plan.phases = {{Time{100}, {{0, 50.0}, {1, 100.0}}}, {Time{1000}, {{2, 25.0}}}, {Time{5}, {}}};
  EXPECT_EQ(predict(fabric, plan), Time{7 + 100 + 2000 + 1000 + 500 + 5});
}

TEST(Predict, sees_a_slow_link) {
  const SlowLink slow = {0, LinkKind::kIci, 0.5};
  const Fabric fabric = torus({8, 1, 1}), degraded = with_slow_links(fabric, {&slow, 1});
  const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  EXPECT_EQ(predict(degraded, *plan) - plan->phases[0].latency,
            2 * (predict(fabric, *plan) - plan->phases[0].latency));
}

TEST(Predict, of_any_number_of_endless_phases_is_a_time_of_which_a_step_is_refused) {
  const Fabric fabric = torus({2, 1, 1});
  CollectivePlan plan;
  plan.phases.assign(40, Phase{kTooLongForAStep, {{0, 1e30}}});
  EXPECT_EQ(predict(fabric, plan), kTooLongForAStep);
}

// A hop of half a second, 2 (n - 1) times.
TEST(Predict, of_any_number_of_endless_hops_is_a_time_of_which_a_step_is_refused) {
  FabricSpec spec = torus_spec({100'000, 1, 1});
  spec.torus->ici.latency = Time::seconds(0.5);
  const Fabric fabric = build_fabric(spec);
  const Collective collective = {kAllReduce, {1e6}};
  EXPECT_NEAR(
      predict(fabric, *plan_with(Algorithm::kRing, fabric, collective, first_chips(1000))).in_seconds(),
      999 * 999.0, 1)
      << "the last is 999 links from the first";
  EXPECT_EQ(predict(fabric, *plan_with(Algorithm::kRing, fabric, collective, first_chips(90'000))),
            kTooLongForAStep);
}

TEST(LowerBound, is_the_traffic_of_a_rank_over_all_its_links) {
  const Fabric fabric = torus({4, 4, 4});
  const auto group = all_chips(fabric);
  const double rate = 6 * kIciRate;
  EXPECT_EQ(lower_bound(fabric, {kAllReduce, {1e9}}, group), Time::seconds(2 * 63.0 / 64 * 1e9 / rate));
  for (const CollectiveKind kind :
       {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll})
    EXPECT_EQ(lower_bound(fabric, {kind, {1e9}}, group), Time::seconds(63.0 / 64 * 1e9 / rate));
  EXPECT_EQ(lower_bound(fabric, {CollectiveKind::kPermute, {1e9}}, group), Time::seconds(1e9 / rate));
  EXPECT_EQ(lower_bound(fabric, {CollectiveKind::kBarrier, {1e9}}, group), Time{});
}

TEST(LowerBound, a_reducing_switch_lets_each_rank_send_once) {
  const Fabric fabric = gpus(8, 8, true);
  EXPECT_EQ(lower_bound(fabric, {kAllReduce, {1e9}}, all_chips(fabric)), Time::seconds(1e9 / kNvlinkRate));
}

TEST(LowerBound, one_slow_rank_must_still_send_its_own_tensor) {
  const SlowLink slow = {3, LinkKind::kNvlink, 0.1};
  const Fabric fabric = with_slow_links(gpus(8), {&slow, 1});
  EXPECT_EQ(lower_bound(fabric, {kAllReduce, {1e9}}, all_chips(fabric)),
            Time::seconds(1e9 / (0.1 * kNvlinkRate)));
}

TEST(LowerBound, one_rank_alone_has_none) {
  const Fabric fabric = torus({4, 1, 1});
  EXPECT_EQ(lower_bound(fabric, {kAllReduce, {1e9}}, first_chips(1)), Time{});
}

TEST(BusBandwidth, is_that_of_nccl_tests) {
  const Time second = Time::seconds(1);
  EXPECT_DOUBLE_EQ(bus_bandwidth({kAllReduce, {8e9}}, 8, second).value, 14e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth({CollectiveKind::kAllGather, {8e9}}, 8, second).value, 7e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth({CollectiveKind::kReduceScatter, {8e9}}, 8, second).value, 7e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth({CollectiveKind::kAllToAll, {8e9}}, 8, second).value, 7e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth({CollectiveKind::kBroadcast, {8e9}}, 8, second).value, 8e9);
  EXPECT_EQ(bus_bandwidth({CollectiveKind::kBarrier, {8e9}}, 8, second).value, 0) << "it carries nothing";
}

TEST(BusBandwidth, of_a_ring_is_the_bandwidth_of_its_links) {
  FabricSpec spec = torus_spec({8, 1, 1});
  spec.torus->ici.latency = {};
  const Fabric fabric = build_fabric(spec);
  const Collective collective = {kAllReduce, {8e9}};
  const auto plan = plan_with(Algorithm::kRing, fabric, collective, all_chips(fabric));
  EXPECT_NEAR(bus_bandwidth(collective, 8, predict(fabric, *plan)).value, kIciRate, 1);
}

}  // namespace
}  // namespace podsim::cost_test
