// Tests of the ring algorithms: loads of single rings, channels over NVLink domains, both directions, chains.
#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim::ring_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;

TEST(Ring, passes_the_data_twice_for_all_reduce_and_once_for_gather_and_scatter) {
  const Fabric fabric = torus({8, 1, 1});
  const auto group = all_chips(fabric);
  for (const auto& [kind, passes] : {std::pair(kAllReduce, 2), std::pair(CollectiveKind::kAllGather, 1),
                                     std::pair(CollectiveKind::kReduceScatter, 1)}) {
    const auto plan = plan_with(Algorithm::kRing, fabric, {kind, {8e6}}, group);
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->phases.size(), 1u);
    EXPECT_EQ(plan->phases[0].latency, passes * (7 * kIciLatency));
    EXPECT_EQ(plan->phases[0].loads.size(), 8u);
    EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kIci), passes * 7e6);
  }
}

TEST(Ring, all_reduce_injects_twice_n_minus_one_tensors) {
  for (const int n : {2, 3, 5, 8}) {
    const Fabric fabric = gpus(8);
    const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {1e6}}, first_chips(n));
    ASSERT_TRUE(plan);
    EXPECT_NEAR(injected_bytes(fabric, *plan), 2 * (n - 1) * 1e6, 1e-3) << n;
  }
}

TEST(Ring, latency_is_that_of_the_longest_hop) {
  const Fabric fabric = torus({4, 4, 1});
  const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {1e6}}, all_chips(fabric));
  EXPECT_EQ(plan->phases[0].latency,
            30 * (2 * kIciLatency));  // from the end of a row to the start of the next
}

TEST(Ring, both_ways_round_halves_the_load_of_a_link) {
  const Fabric fabric = torus({8, 1, 1});
  const auto plan = plan_with(Algorithm::kBidirectionalRing, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].loads.size(), 16u);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kIci), 7e6);
  EXPECT_DOUBLE_EQ(least_bytes(fabric, plan->phases[0], LinkKind::kIci), 7e6);
}

TEST(Ring, every_nic_carries_one_channel_and_nvlink_the_rest) {
  for (const int domains : {2, 3, 4}) {
    const Fabric fabric = gpus(8 * domains);
    const auto group = all_chips(fabric);
    const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {8e6}}, group);
    ASSERT_TRUE(plan);
    const double n = 8.0 * domains;
    const double ring_bytes = 2 * (n - 1) / n * 8e6;
    const Phase& phase = plan->phases[0];
    EXPECT_EQ(loaded_links(fabric, phase, LinkKind::kNic), 16 * domains);
    EXPECT_NEAR(busiest_bytes(fabric, phase, LinkKind::kNic), ring_bytes / 8, 1e-3);
    EXPECT_NEAR(least_bytes(fabric, phase, LinkKind::kNic), ring_bytes / 8, 1e-3);
    EXPECT_NEAR(busiest_bytes(fabric, phase, LinkKind::kNvlink), ring_bytes * 7 / 8, 1e-3);
    EXPECT_NEAR(least_bytes(fabric, phase, LinkKind::kNvlink), ring_bytes * 7 / 8, 1e-3);
  }
}

TEST(Ring, channels_of_an_even_number_of_domains_stay_on_their_rails) {
  const Fabric fabric = gpus(32);
  const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  EXPECT_EQ(loaded_links(fabric, plan->phases[0], LinkKind::kTrunk), 0);
}

TEST(Ring, channels_do_not_depend_on_the_order_of_ranks_inside_a_domain) {
  const Fabric fabric = gpus(32);
  auto shuffled = all_chips(fabric);
  std::ranges::reverse(shuffled.begin() + 8, shuffled.begin() + 16);
  const auto straight = plan_with(Algorithm::kRing, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {8e6}}, shuffled);
  EXPECT_EQ(predict(fabric, *plan), predict(fabric, *straight));
}

TEST(Ring, ragged_domains_get_as_many_channels_as_the_smallest_has_members) {
  const Fabric fabric = gpus(16);
  const std::vector<ChipId> group = {0, 1, 2, 8, 9, 10, 11, 12};
  const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {3e6}}, group);
  ASSERT_TRUE(plan);
  const double ring_bytes = 2.0 * 7 / 8 * 3e6;
  EXPECT_NEAR(busiest_bytes(fabric, plan->phases[0], LinkKind::kNic), ring_bytes / 3, 1e-3);
  EXPECT_NEAR(injected_bytes(fabric, *plan), 8 * ring_bytes, 1e-2);
}

TEST(Ring, one_member_in_a_domain_makes_a_single_channel) {
  const Fabric fabric = gpus(16);
  const std::vector<ChipId> group = {3, 8, 9, 10};
  const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {4e6}}, group);
  ASSERT_TRUE(plan);
  EXPECT_NEAR(busiest_bytes(fabric, plan->phases[0], LinkKind::kNic), 6e6, 1e-3);
  EXPECT_EQ(loaded_links(fabric, plan->phases[0], LinkKind::kNic), 4);
}

TEST(Ring, broadcast_is_a_chain_that_ends_at_the_last_rank) {
  const Fabric fabric = torus({8, 1, 1});
  const auto plan =
      plan_with(Algorithm::kRing, fabric, {CollectiveKind::kBroadcast, {1e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].latency, 7 * kIciLatency);
  EXPECT_EQ(plan->phases[0].loads.size(), 7u);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kIci), 1e6);
}

// Nothing comes back to the source, and every NIC carries the share of its ring.
TEST(Ring, broadcast_leaves_a_domain_by_all_of_its_nics) {
  const Fabric fabric = gpus(24);
  for (const ChipId source : {0, 3}) {
    auto group = all_chips(fabric);
    std::swap(group[0], group[source]);
    const auto plan = plan_with(Algorithm::kRing, fabric, {CollectiveKind::kBroadcast, {8e6}}, group);
    ASSERT_TRUE(plan);
    EXPECT_NEAR(busiest_bytes(fabric, plan->phases[0], LinkKind::kNic), 1e6, 1e-3);
    EXPECT_NEAR(least_bytes(fabric, plan->phases[0], LinkKind::kNic), 1e6, 1e-3);
    EXPECT_LE(busiest_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 8e6 * (1 + 1e-9));
    for (const LinkLoad& load : plan->phases[0].loads) EXPECT_NE(fabric.links[load.link].to, source);
  }
}

TEST(Ring, broadcast_in_a_mesh_runs_in_every_order) {
  FabricSpec spec = gpu_spec(8);
  spec.gpu->nvlink_mesh = true;
  const Fabric fabric = build_fabric(spec);
  const auto plan =
      plan_with(Algorithm::kRing, fabric, {CollectiveKind::kBroadcast, {7e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].loads.size(), 7u * 7);
  EXPECT_NEAR(busiest_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 1e6, 1e-3);
  EXPECT_NEAR(least_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 1e6, 1e-3);
}

TEST(Ring, does_not_apply_to_pairwise_kinds) {
  const Fabric fabric = torus({8, 1, 1});
  for (const CollectiveKind kind :
       {CollectiveKind::kAllToAll, CollectiveKind::kPermute, CollectiveKind::kBarrier})
    EXPECT_FALSE(plan_with(Algorithm::kRing, fabric, {kind, {1e6}}, all_chips(fabric)));
}

}  // namespace
}  // namespace podsim::ring_test
