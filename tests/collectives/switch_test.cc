// Tests of the algorithms that live on switches: trees, halving-doubling, in-switch reduction.
#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim::switch_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;
constexpr Time kNvlinkHop = 2 * kNvlinkLatency;

TEST(Tree, carries_two_tensors_in_twice_log2_steps) {
  const Fabric fabric = gpus(8);
  const auto plan = plan_with(Algorithm::kTree, fabric, {kAllReduce, {1e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->phases.size(), 1u);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 2e6);
  EXPECT_EQ(plan->phases[0].latency, 6 * kNvlinkHop);
}

TEST(Tree, every_rank_but_the_roots_sends_its_share_up_and_gets_it_back) {
  for (const int n : {2, 3, 5, 6, 7, 8}) {
    const Fabric fabric = gpus(8);
    const auto plan = plan_with(Algorithm::kTree, fabric, {kAllReduce, {1e6}}, first_chips(n));
    EXPECT_NEAR(injected_bytes(fabric, *plan), 2 * (n - 1) * 1e6, 1e-3) << n;
    EXPECT_LE(busiest_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 2e6) << n;
  }
}

TEST(Tree, joins_domains_rail_by_rail) {
  const Fabric fabric = gpus(128);
  const auto plan = plan_with(Algorithm::kTree, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  const Phase& phase = plan->phases[0];
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, phase, LinkKind::kNic), 2e6);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, phase, LinkKind::kNvlink), 14e6);
  EXPECT_EQ(loaded_links(fabric, phase, LinkKind::kTrunk), 0);
  EXPECT_EQ(phase.latency, 2 * kNvlinkHop + 8 * (2 * kNicLatency));
}

TEST(Tree, broadcast_sends_one_tensor_to_every_rank_once) {
  for (const int n : {2, 3, 4, 7, 8}) {
    const Fabric fabric = gpus(8);
    const auto plan =
        plan_with(Algorithm::kTree, fabric, {CollectiveKind::kBroadcast, {1e6}}, first_chips(n));
    ASSERT_TRUE(plan);
    std::vector<double> received(8, 0.0);
    for (const LinkLoad& load : plan->phases[0].loads)
      if (fabric.links[load.link].to < 8) received[fabric.links[load.link].to] += load.bytes;
    EXPECT_EQ(received[0], 0) << n;
    for (int rank = 1; rank < n; ++rank) EXPECT_DOUBLE_EQ(received[rank], 1e6) << n << ' ' << rank;
  }
}

TEST(Tree, broadcast_over_domains_leaves_the_source_domain_once_per_rail) {
  const Fabric fabric = gpus(32);
  std::vector<ChipId> group = all_chips(fabric);
  std::swap(group[0], group[5]);  // the source is not the first GPU of its domain
  const auto plan = plan_with(Algorithm::kTree, fabric, {CollectiveKind::kBroadcast, {8e6}}, group);
  ASSERT_TRUE(plan);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kNic), 1e6);
  for (const LinkLoad& load : plan->phases[0].loads) {
    const Link& link = fabric.links[load.link];
    if (link.kind == LinkKind::kNic) {
      EXPECT_FALSE(link.to < 8) << "the source domain receives nothing";
    }
  }
}

TEST(Tree, barrier_is_latency_up_and_down_without_bytes) {
  const Fabric fabric = gpus(8);
  const auto plan = plan_with(Algorithm::kTree, fabric, {CollectiveKind::kBarrier, {}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->phases[0].loads.empty());
  EXPECT_EQ(predict(fabric, *plan), 6 * kNvlinkHop);
}

TEST(HalvingDoubling, halves_the_part_at_every_step_and_mirrors_it) {
  const Fabric fabric = gpus(8);
  const auto plan = plan_with(Algorithm::kHalvingDoubling, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->phases.size(), 6u);
  const std::array<double, 6> parts = {4e6, 2e6, 1e6, 1e6, 2e6, 4e6};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(plan->phases[i].latency, kNvlinkHop);
    EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[i], LinkKind::kNvlink), parts[i]);
  }
  EXPECT_NEAR(injected_bytes(fabric, *plan), 14 * 8e6, 1e-3);
}

TEST(HalvingDoubling, gathers_farthest_ranks_first_and_scatters_nearest_first) {
  const Fabric fabric = gpus(16);
  const auto gather =
      plan_with(Algorithm::kHalvingDoubling, fabric, {CollectiveKind::kAllGather, {8e6}}, all_chips(fabric));
  const auto scatter = plan_with(Algorithm::kHalvingDoubling, fabric, {CollectiveKind::kReduceScatter, {8e6}},
                                 all_chips(fabric));
  EXPECT_GT(loaded_links(fabric, gather->phases.front(), LinkKind::kNic), 0);
  EXPECT_GT(loaded_links(fabric, scatter->phases.back(), LinkKind::kNic), 0);
  EXPECT_EQ(predict(fabric, *gather), predict(fabric, *scatter));
}

TEST(HalvingDoubling, needs_a_power_of_two) {
  const Fabric fabric = gpus(8);
  EXPECT_FALSE(plan_with(Algorithm::kHalvingDoubling, fabric, {kAllReduce, {1e6}}, first_chips(6)));
}

TEST(Nvls, sends_and_receives_the_tensor_once) {
  const Fabric fabric = gpus(16, 8, true);
  const auto plan = plan_with(Algorithm::kNvls, fabric, {kAllReduce, {1e6}}, first_chips(8));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].loads.size(), 16u);
  EXPECT_DOUBLE_EQ(least_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 1e6);
  EXPECT_EQ(predict(fabric, *plan), kNvlinkHop + Time::seconds(1e6 / kNvlinkRate));
}

TEST(Nvls, keeps_links_busy_by_the_efficiency_of_reductions) {
  FabricSpec spec = gpu_spec(8, 8);
  spec.gpu->nvls = true;
  spec.channels = {{.algorithm = "nvls", .nvlink_efficiency = 0.5 * spec.gpu->nvlink.efficiency}};
  const Fabric fabric = build_fabric(spec);
  const auto plan = plan_with(Algorithm::kNvls, fabric, {kAllReduce, {1e6}}, first_chips(8));
  ASSERT_TRUE(plan);
  EXPECT_EQ(predict(fabric, *plan), kNvlinkHop + Time::seconds(2e6 / kNvlinkRate));
}

TEST(Nvls, needs_reducing_switches_one_domain_and_an_all_reduce) {
  const Fabric reducing = gpus(16, 8, true), plain = gpus(16);
  EXPECT_FALSE(plan_with(Algorithm::kNvls, plain, {kAllReduce, {1e6}}, first_chips(8)));
  EXPECT_FALSE(plan_with(Algorithm::kNvls, reducing, {kAllReduce, {1e6}}, first_chips(16)));
  EXPECT_FALSE(plan_with(Algorithm::kNvls, reducing, {CollectiveKind::kAllGather, {1e6}}, first_chips(8)));
}

Fabric pairwise(int count, int per_domain = 4) {
  FabricSpec spec = gpu_spec(count, per_domain);
  spec.gpu->nvlink_mesh = true;
  return build_fabric(spec);
}

TEST(NvlinkMesh, shares_out_the_links_of_a_gpu_among_its_peers) {
  const Fabric fabric = pairwise(8);
  for (ChipId chip = 0; chip < 8; ++chip) {
    double to_peers = 0;
    for (const Link& link : fabric.out(chip)) {
      if (link.kind != LinkKind::kNvlink) continue;
      EXPECT_EQ(link.to / 4, chip / 4);
      to_peers += link.bandwidth.value;
    }
    EXPECT_DOUBLE_EQ(to_peers, kNvlinkRate);
  }
}

TEST(NvlinkMesh, two_gpus_have_only_the_links_between_them) {
  const Fabric fabric = pairwise(4);
  const CollectivePlan made = plan(fabric, {kAllReduce, {9e6}}, first_chips(2));
  EXPECT_EQ(predict(fabric, made), 2 * kNvlinkLatency + Time::seconds(9e6 / (kNvlinkRate / 3)));
}

TEST(NvlinkMesh, rings_in_every_order_use_all_links_alike) {
  const Fabric fabric = pairwise(4);
  const auto plan = plan_with(Algorithm::kRing, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  EXPECT_EQ(loaded_links(fabric, plan->phases[0], LinkKind::kNvlink), 12);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 2 * 8e6 / 4);
  EXPECT_DOUBLE_EQ(least_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 2 * 8e6 / 4);
  EXPECT_EQ(predict(fabric, *plan), 6 * kNvlinkLatency + Time::seconds(1.5 * 8e6 / kNvlinkRate));
}

TEST(NvlinkMesh, an_exchange_of_all_pairs_takes_one_step) {
  const Fabric fabric = pairwise(8);
  const auto exchange =
      plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kAllToAll, {8e6}}, first_chips(4));
  ASSERT_TRUE(exchange);
  EXPECT_EQ(predict(fabric, *exchange), kNvlinkLatency + Time::seconds(0.75 * 8e6 / kNvlinkRate));
  const auto inside = plan_with(Algorithm::kHierarchical, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->phases[0].latency, kNvlinkLatency);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, inside->phases[0], LinkKind::kNvlink), 8e6 / 4);
}

}  // namespace
}  // namespace podsim::switch_test
