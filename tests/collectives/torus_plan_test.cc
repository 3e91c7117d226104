// Tests of the multi-ring over torus boxes: loads per dimension, latency, twisted slices, and what is not a
// box.
#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim::torus_plan_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;

double busiest(const Fabric& fabric, const Phase& phase) {
  return std::max(busiest_bytes(fabric, phase, LinkKind::kIci),
                  busiest_bytes(fabric, phase, LinkKind::kIciOptical));
}

double least(const Fabric& fabric, const Phase& phase) {
  return std::min(least_bytes(fabric, phase, LinkKind::kIci),
                  least_bytes(fabric, phase, LinkKind::kIciOptical));
}

TEST(Torus, equal_rings_load_every_link_alike) {
  const Fabric fabric = torus({4, 4, 4});
  const auto plan = plan_with(Algorithm::kTorus, fabric, {kAllReduce, {3e9}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].loads.size(), 384u);
  EXPECT_NEAR(busiest(fabric, plan->phases[0]), 63.0 / 64 * 1e9, 1e-3);
  EXPECT_EQ(busiest(fabric, plan->phases[0]), least(fabric, plan->phases[0]));
  EXPECT_EQ(plan->phases[0].latency, 18 * kIciLatency);
}

TEST(Torus, gather_and_scatter_are_half_of_an_all_reduce) {
  const Fabric fabric = torus({4, 8, 1});
  const auto all_reduce = plan_with(Algorithm::kTorus, fabric, {kAllReduce, {1e9}}, all_chips(fabric));
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    const auto half = plan_with(Algorithm::kTorus, fabric, {kind, {1e9}}, all_chips(fabric));
    EXPECT_DOUBLE_EQ(2 * busiest(fabric, half->phases[0]), busiest(fabric, all_reduce->phases[0]));
    EXPECT_EQ(2 * half->phases[0].latency, all_reduce->phases[0].latency);
  }
}

TEST(Torus, unequal_rings_reach_the_injection_bound) {
  for (const std::array<int, 3> shape :
       {std::array{4, 8, 16}, {4, 4, 8}, {3, 5, 7}, {16, 4, 1}, {16, 20, 28}}) {
    const Fabric fabric = torus(shape);
    const double n = fabric.chips, k = shape[2] == 1 ? 2 : 3;
    const auto plan = plan_with(Algorithm::kTorus, fabric, {kAllReduce, {1e9}}, all_chips(fabric));
    EXPECT_NEAR(busiest(fabric, plan->phases[0]) / ((n - 1) / n * 1e9 / k), 1, 1e-12);
    EXPECT_EQ(busiest(fabric, plan->phases[0]), least(fabric, plan->phases[0]));
  }
}

TEST(Torus, a_line_carries_twice_what_a_ring_carries) {
  const auto ring = torus({8, 1, 1}), line = mesh({8, 1, 1});
  const auto on_ring = plan_with(Algorithm::kTorus, ring, {kAllReduce, {1e9}}, all_chips(ring));
  const auto on_line = plan_with(Algorithm::kTorus, line, {kAllReduce, {1e9}}, all_chips(line));
  EXPECT_DOUBLE_EQ(busiest(line, on_line->phases[0]), 2 * busiest(ring, on_ring->phases[0]));
  EXPECT_EQ(on_line->phases[0].loads.size(), 14u);
  EXPECT_EQ(on_line->phases[0].latency, 14 * (2 * kIciLatency));  // a folded ring skips every other chip
}

TEST(Torus, two_chips_use_one_link_each_way) {
  const Fabric fabric = torus({2, 1, 1});
  const auto plan = plan_with(Algorithm::kTorus, fabric, {kAllReduce, {1e9}}, all_chips(fabric));
  EXPECT_EQ(plan->phases[0].loads.size(), 2u);
  EXPECT_DOUBLE_EQ(busiest(fabric, plan->phases[0]), 1e9);
  EXPECT_EQ(plan->phases[0].latency, 2 * kIciLatency);
}

TEST(Torus, a_group_may_fill_some_dimensions_in_any_order) {
  const Fabric fabric = torus({4, 4, 4});
  std::vector<ChipId> plane;  // y and z, at x = 2
  for (int i = 15; i >= 0; --i) plane.push_back(2 + 4 * i);
  const auto plan = plan_with(Algorithm::kTorus, fabric, {kAllReduce, {1e9}}, plane);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].loads.size(), 64u);
  EXPECT_NEAR(busiest(fabric, plan->phases[0]), 15.0 / 16 * 1e9 / 2, 1e-3);
}

TEST(Torus, a_group_that_is_not_a_full_box_has_no_multi_ring) {
  const Fabric fabric = torus({4, 4, 4});
  const Collective collective = {kAllReduce, {1e9}};
  EXPECT_FALSE(plan_with(Algorithm::kTorus, fabric, collective,
                         std::vector<ChipId>{0, 1, 2}));  // a fold would leap half the ring
  EXPECT_FALSE(plan_with(Algorithm::kTorus, fabric, collective, std::vector<ChipId>{0, 1, 2, 7}));  // bent
  const Fabric cluster = gpus(16);
  EXPECT_FALSE(plan_with(Algorithm::kTorus, cluster, collective, all_chips(cluster)));
  const Fabric slices = multislice({4, 4, 1}, 2);
  EXPECT_FALSE(plan_with(Algorithm::kTorus, slices, collective, all_chips(slices)));
}

// By hand for 4x4x8, x and y shifting z by 4: z first is a ring of 8; x or y then joins 4 chips of a longer
// ring.
TEST(Torus, a_twisted_slice_is_near_the_bound_and_never_below_it) {
  const Fabric fabric = twisted_torus({4, 4, 8});
  const auto plan = plan_with(Algorithm::kTorus, fabric, {kAllReduce, {1e9}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  const double per_order = 7.0 / 16 + 9.0 / 16 / 8 + 9.0 / 16 / 32;
  EXPECT_NEAR(busiest(fabric, plan->phases[0]), 2 * per_order / 3 * 1e9, 1e-3);
  EXPECT_EQ(busiest(fabric, plan->phases[0]), least(fabric, plan->phases[0]));
  EXPECT_GT(busiest(fabric, plan->phases[0]), 127.0 / 128 / 3 * 1e9);
}

TEST(Torus, a_dimension_whose_twist_leaves_the_group_is_a_line) {
  const Fabric fabric = twisted_torus({4, 4, 8});
  const auto plan = plan_with(Algorithm::kTorus, fabric, {kAllReduce, {1e9}}, first_chips(4));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].loads.size(), 6u);
  EXPECT_DOUBLE_EQ(busiest(fabric, plan->phases[0]), 1.5e9);
}

}  // namespace
}  // namespace podsim::torus_plan_test
