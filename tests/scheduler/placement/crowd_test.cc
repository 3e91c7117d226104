// What a collective takes when all groups along its axes run it at once.
#include "scheduler/placement/crowd.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/collective.h"
#include "tests/collectives/fabrics.h"
#include "tests/scheduler/fixture.h"

namespace podsim::crowd_test {
namespace {

using testing::gpu_fabric;
using Group = std::vector<ChipId>;

constexpr Bytes kMessage{64e6};

// Chip i of every slice, for each i.
Crowd::Groups across(int slices, int chips_per_slice) {
  Crowd::Groups groups(static_cast<std::size_t>(chips_per_slice));
  for (int slice = 0; slice < slices; ++slice)
    for (int chip = 0; chip < chips_per_slice; ++chip)
      groups[static_cast<std::size_t>(chip)].push_back(slice * chips_per_slice + chip);
  return groups;
}

const CrowdCurve& of(const std::vector<CrowdCurve>& curves, Algorithm algorithm) {
  return *std::ranges::find(curves, algorithm, &CrowdCurve::algorithm);
}

TEST(Crowd, of_one_group_takes_what_its_plans_are_predicted_to_take) {
  const Fabric fabric = build_fabric(gpu_fabric(16, 4, 4));
  const Group group = {0, 1, 2, 3, 4, 5, 6, 7};
  const Collective collective{CollectiveKind::kAllReduce, kMessage};
  const auto plans = every_plan(fabric, collective, group, nullptr);
  const auto curves = Crowd(fabric).curves(collective.kind, {}, {group});
  ASSERT_EQ(curves.size(), plans.size());
  ASSERT_GT(plans.size(), 2u);
  for (const CollectivePlan& plan : plans) {
    const CrowdCurve& curve = of(curves, plan.algorithm);
    EXPECT_NEAR(curve.seconds(kMessage), predict(fabric, plan).in_seconds(), 1e-10);
    EXPECT_EQ(curve.seconds_alone(kMessage), curve.seconds(kMessage));
  }
}

TEST(Crowd, of_groups_that_share_the_nic_of_their_host_takes_as_many_times_the_bytes) {
  const Fabric fabric = multislice({4, 1, 1}, 2);
  const auto groups = across(2, 4);
  const auto all = Crowd(fabric).curves(CollectiveKind::kAllReduce, {}, groups);
  const auto one = Crowd(fabric).curves(CollectiveKind::kAllReduce, {}, {groups.front()});
  const CrowdCurve &ring = of(all, Algorithm::kRing), &alone = of(one, Algorithm::kRing);
  EXPECT_DOUBLE_EQ(ring.seconds_per_byte(), 4 * alone.seconds_per_byte());
  EXPECT_EQ(ring.fixed_seconds(), alone.fixed_seconds());
  EXPECT_NEAR(ring.seconds_alone(kMessage), alone.seconds(kMessage), 1e-12);
}

TEST(Crowd, of_groups_inside_their_domains_takes_what_one_takes) {
  const Fabric fabric = build_fabric(gpu_fabric(16, 4, 4));
  const Crowd crowd(fabric);
  const auto all = crowd.curves(CollectiveKind::kAllGather, {}, {{0, 1, 2, 3}, {4, 5, 6, 7}});
  for (const CrowdCurve& curve : all) EXPECT_EQ(curve.seconds(kMessage), curve.seconds_alone(kMessage));
}

TEST(Crowd, shares_links_between_slices_below_full_uplinks_and_on_parts_of_a_ring) {
  const Fabric pod = torus({4, 4, 1}), slices = multislice({4, 1, 1}, 2);
  EXPECT_FALSE(Crowd(pod).shares_links(Group{0, 1, 2, 3}));
  EXPECT_TRUE(Crowd(pod).shares_links(Group{0, 1}));
  EXPECT_FALSE(Crowd(pod).shares_links(Group{0}));
  EXPECT_TRUE(Crowd(slices).shares_links(Group{0, 4}));

  FabricSpec spec = gpu_fabric(16, 4, 4);
  const Fabric whole = build_fabric(spec);
  spec.gpu->tiers.front().oversubscription = 2;
  const Fabric narrow = build_fabric(spec);
  EXPECT_FALSE(Crowd(whole).shares_links(Group{0, 4, 8, 12}));
  EXPECT_TRUE(Crowd(narrow).shares_links(Group{0, 4, 8, 12}));
  EXPECT_FALSE(Crowd(narrow).shares_links(Group{0, 1, 2, 3}));
}

}  // namespace
}  // namespace podsim::crowd_test
