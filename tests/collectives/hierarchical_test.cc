// Tests of the hierarchical algorithms: NVLink domains over rails, slices over the DCN.
#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim::hierarchical_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;

TEST(Hierarchical, scatters_inside_rings_across_and_gathers_inside) {
  const Fabric fabric = gpus(32);
  const auto plan = plan_with(Algorithm::kHierarchical, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->phases.size(), 3u);
  for (const int inside : {0, 2}) {
    EXPECT_EQ(loaded_links(fabric, plan->phases[inside], LinkKind::kNic), 0);
    EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[inside], LinkKind::kNvlink), 7e6);
    EXPECT_EQ(plan->phases[inside].latency, 2 * kNvlinkLatency);
  }
  EXPECT_EQ(loaded_links(fabric, plan->phases[1], LinkKind::kNvlink), 0);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[1], LinkKind::kNic), 2 * 3.0 / 4 * 1e6);
  EXPECT_EQ(plan->phases[1].latency, 6 * (2 * kNicLatency));
}

TEST(Hierarchical, injects_what_a_ring_injects) {
  const Fabric fabric = gpus(32);
  const auto plan = plan_with(Algorithm::kHierarchical, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  EXPECT_NEAR(injected_bytes(fabric, *plan), 2 * 31 * 8e6, 1e-2);
}

TEST(Hierarchical, gather_is_scatter_backwards) {
  const Fabric fabric = gpus(32);
  const auto gather =
      plan_with(Algorithm::kHierarchical, fabric, {CollectiveKind::kAllGather, {8e6}}, all_chips(fabric));
  const auto scatter =
      plan_with(Algorithm::kHierarchical, fabric, {CollectiveKind::kReduceScatter, {8e6}}, all_chips(fabric));
  ASSERT_EQ(gather->phases.size(), 2u);
  EXPECT_EQ(loaded_links(fabric, gather->phases[0], LinkKind::kNvlink), 0);
  EXPECT_EQ(loaded_links(fabric, scatter->phases[1], LinkKind::kNvlink), 0);
  EXPECT_EQ(predict(fabric, *gather), predict(fabric, *scatter));
}

TEST(Hierarchical, needs_several_equal_domains) {
  const Fabric fabric = gpus(32);
  const Collective collective = {kAllReduce, {1e6}};
  EXPECT_FALSE(plan_with(Algorithm::kHierarchical, fabric, collective, first_chips(8)));
  EXPECT_FALSE(plan_with(Algorithm::kHierarchical, fabric, collective, std::vector<ChipId>{0, 1, 8}));
  EXPECT_FALSE(plan_with(Algorithm::kHierarchical, fabric, collective, std::vector<ChipId>{0, 8, 16}));
}

// Each chip's shard crosses the DCN over the NIC of a host that four chips share.
TEST(Hierarchical, slices_meet_over_host_nics_with_one_shard_per_chip) {
  const Fabric fabric = multislice({4, 4, 4}, 2);
  const auto plan = plan_with(Algorithm::kHierarchical, fabric, {kAllReduce, {6.4e9}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->phases.size(), 3u);
  EXPECT_NEAR(busiest_bytes(fabric, plan->phases[0], LinkKind::kIci), 63.0 / 64 * 6.4e9 / 6, 1e-3);
  EXPECT_EQ(loaded_links(fabric, plan->phases[0], LinkKind::kIci), 2 * 384);
  EXPECT_EQ(plan->phases[0].latency, 9 * kIciLatency);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[1], LinkKind::kDcn), 4 * 0.1e9);
  EXPECT_EQ(plan->phases[1].latency, 2 * (4 * kDcnLatency));
}

TEST(Hierarchical, slices_must_hold_the_same_box) {
  const Fabric fabric = multislice({4, 1, 1}, 2);
  const Collective collective = {kAllReduce, {1e6}};
  EXPECT_TRUE(plan_with(Algorithm::kHierarchical, fabric, collective, std::vector<ChipId>{0, 1, 4, 5}));
  EXPECT_FALSE(plan_with(Algorithm::kHierarchical, fabric, collective, std::vector<ChipId>{0, 1, 5, 6}));
}

TEST(Fanout, copies_fall_on_as_many_domains_as_random_choices_hit) {
  EXPECT_DOUBLE_EQ(domains_reached({.copies = 1}, 8), 1);
  EXPECT_DOUBLE_EQ(domains_reached({.copies = 2}, 2), 1.5);
  EXPECT_DOUBLE_EQ(domains_reached({.copies = 8}, 1), 1);
  EXPECT_NEAR(domains_reached({.copies = 8}, 1000000), 8, 1e-4);
  EXPECT_DOUBLE_EQ(domains_reached({.copies = 2, .most_blocks = 2}, 8), 1.5) << "of two domains";
  EXPECT_DOUBLE_EQ(domains_reached({.copies = 2, .most_blocks = 4}, 2), 1.5) << "there are but two";
}

// Four domains of 8 get 2 copies of a piece each: 4 (1 - (3/4)^2) = 1.75 of them one or two.
TEST(Fanout, a_piece_crosses_to_a_domain_once_and_is_copied_there) {
  const Fabric fabric = gpus(32);
  const Collective alike = {CollectiveKind::kAllToAll, {8e6}};
  const Collective copied = {CollectiveKind::kAllToAll, {8e6}, {}, {.copies = 2}};
  const auto plain = plan_with(Algorithm::kHierarchical, fabric, alike, all_chips(fabric));
  const auto fanned = plan_with(Algorithm::kHierarchical, fabric, copied, all_chips(fabric));
  ASSERT_EQ(plain->phases.size(), 2u);
  ASSERT_EQ(fanned->phases.size(), 1u) << "copies are made while others arrive";
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plain->phases[1], LinkKind::kNic), 3.0 / 4 * 8e6);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, fanned->phases[0], LinkKind::kNic), 1.75 / 2 * 3.0 / 4 * 8e6);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, fanned->phases[0], LinkKind::kNvlink), 7.0 / 8 * 8e6);
  EXPECT_LT(predict(fabric, *fanned), predict(fabric, *plain));
  EXPECT_GE(predict(fabric, *fanned), lower_bound(fabric, copied, all_chips(fabric)));
}

}  // namespace
}  // namespace podsim::hierarchical_test
