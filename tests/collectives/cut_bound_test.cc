// What must cross a cut, by hand; the bound of the cut; plans that carry too little.
#include "collectives/cut_bound.h"

#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim::cut_bound_test {
namespace {

// One rank of four is near.
TEST(MustCross, is_what_the_far_side_does_not_hold) {
  const Side near = {true, false, false, false};
  const Side far = {false, true, true, true};
  EXPECT_EQ(must_cross({CollectiveKind::kAllReduce, {8}}, near), 8);
  EXPECT_EQ(must_cross({CollectiveKind::kAllGather, {8}}, near), 2);
  EXPECT_EQ(must_cross({CollectiveKind::kAllGather, {8}}, far), 6);
  EXPECT_EQ(must_cross({CollectiveKind::kReduceScatter, {8}}, near), 6);
  EXPECT_EQ(must_cross({CollectiveKind::kAllToAll, {8}}, near), 6);
  EXPECT_EQ(must_cross({CollectiveKind::kAllToAll, {8}, {0.5, 0.25, 0.25, 0}}, near), 4);
  EXPECT_EQ(must_cross({CollectiveKind::kAllToAll, {8}, {0.5, 0.25, 0.25, 0}}, far), 12);
  EXPECT_EQ(must_cross({CollectiveKind::kAllToAll, {8}, {}, {.copies = 2}}, near), 3);
  EXPECT_EQ(must_cross({CollectiveKind::kBroadcast, {8}}, near), 8);
  EXPECT_EQ(must_cross({CollectiveKind::kBroadcast, {8}}, far), 0);
  EXPECT_EQ(must_cross({CollectiveKind::kPermute, {8}}, {true, false, true, false}), 16);
  EXPECT_EQ(must_cross({CollectiveKind::kBarrier, {8}}, near), 0);
}

TEST(MustCross, is_nothing_where_all_are_on_one_side) {
  EXPECT_EQ(must_cross({CollectiveKind::kAllReduce, {8}}, {true, true}), 0);
  EXPECT_EQ(must_cross({CollectiveKind::kAllReduce, {8}}, {false, false}), 0);
}

// 1 GB out of an NVLink domain of 8 GPUs over 8 NICs.
TEST(CutBound, of_a_domain_is_that_of_its_nics) {
  const Fabric fabric = gpus(64);
  Side domain(64, false);
  std::fill_n(domain.begin(), 8, true);
  const Time bound = cut_bound(fabric, {CollectiveKind::kAllReduce, {1e9}}, all_chips(fabric), domain);
  EXPECT_NEAR(bound.in_seconds(), 1e9 / (8 * kNicRate), 1e-9);
}

TEST(CutBound, is_above_injection_where_the_network_is_oversubscribed) {
  FabricSpec spec = gpu_spec(64, 1);
  spec.gpu->rail_optimised = false;
  spec.gpu->tiers = {{.down = 8, .oversubscription = 4}, {.down = 64}};
  const Fabric fabric = build_fabric(spec);
  const auto group = all_chips(fabric);
  const Collective exchange{CollectiveKind::kAllToAll, {1e9}};
  const Side half = narrow_cuts(fabric, group).front();
  const double injection_s = lower_bound(fabric, exchange, group).in_seconds();
  EXPECT_GT(cut_bound(fabric, exchange, group, half).in_seconds(), 1.9 * injection_s);
}

TEST(NarrowCuts, are_the_half_and_the_first_domains) {
  const Fabric fabric = gpus(32);
  const auto cuts = narrow_cuts(fabric, all_chips(fabric));
  ASSERT_EQ(cuts.size(), 5u);
  EXPECT_EQ(std::ranges::count(cuts[0], true), 16);
  for (std::size_t cut = 1; cut < cuts.size(); ++cut) EXPECT_EQ(std::ranges::count(cuts[cut], true), 8);
  EXPECT_EQ(narrow_cuts(fabric, all_chips(gpus(512))).size(), 9u);
  const std::vector<ChipId> one = {3};
  EXPECT_TRUE(narrow_cuts(fabric, one).empty());
}

TEST(CarriesAcross, misses_what_a_plan_leaves_out) {
  const Fabric fabric = torus({8, 1, 1});
  const auto group = all_chips(fabric);
  const Collective gather{CollectiveKind::kAllGather, {8e6}};
  CollectivePlan ring = *plan_with(Algorithm::kRing, fabric, gather, group);
  const Side half = narrow_cuts(fabric, group).front();
  EXPECT_TRUE(carries_across(fabric, gather, group, ring, half));
  for (LinkLoad& load : ring.phases.front().loads) load.bytes *= 0.5;
  EXPECT_FALSE(carries_across(fabric, gather, group, ring, half));
}

}  // namespace
}  // namespace podsim::cut_bound_test
