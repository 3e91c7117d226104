// Tests of the sums of link loads: order does not matter to the last bit, zeros are left out.
#include "collectives/load_sum.h"

#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim {
namespace {

TEST(LoadSum, does_not_depend_on_the_order_of_contributions) {
  for (const LinkId distance : {1, 1'000'000}) {
    LoadSum sum;
    for (const double units : {0.1, 0.2, 0.3}) sum.add(7, units);
    for (const double units : {0.3, 0.2, 0.1}) sum.add(7 + distance, units);
    const auto loads = sum.loads(Bytes{1.0});
    ASSERT_EQ(loads.size(), 2u);
    EXPECT_EQ(loads[0].link, 7);
    EXPECT_EQ(loads[0].bytes, loads[1].bytes);
    EXPECT_NEAR(loads[0].bytes, 0.6, 1e-12);
  }
}

TEST(LoadSum, many_contributions_to_far_links_are_summed_like_few) {
  for (const LinkId apart : {1, 1000, 3'000'000}) {
    LoadSum sum;
    for (int i = 0; i < 6000; ++i) sum.add(5 + i * 7 % 600 * apart, i % 10 + 1);
    const auto loads = sum.loads(Bytes{1.0});
    ASSERT_EQ(loads.size(), 600u);
    for (int link = 0; link < 600; ++link) {
      double expected = 0;
      for (int i = 0; i < 6000; ++i) expected += i * 7 % 600 == link ? i % 10 + 1 : 0;
      ASSERT_EQ(loads[link].link, 5 + link * apart);
      ASSERT_EQ(loads[link].bytes, expected);
    }
  }
}

TEST(LoadSum, leaves_out_links_without_load) {
  LoadSum sum;
  sum.add(3, 0.0);
  sum.add(2, 1.0);
  const auto loads = sum.loads(Bytes{5.0});
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].link, 2);
  EXPECT_TRUE(LoadSum().loads(Bytes{1.0}).empty());
}

// Four hosts to a leaf, four spines; destinations 4 and 8 take the same one.
Fabric colliding_fabric(Routing routing, Transport transport) {
  FabricSpec spec = gpu_spec(12, 1);
  spec.gpu->rail_optimised = false;
  spec.gpu->tiers = {{.down = 4}, {.down = 8}};
  spec.routing = routing;
  spec.transport = std::move(transport);
  return build_fabric(spec);
}

double busiest_trunk(const Fabric& fabric) {
  LoadSum sum;
  sum.add(fabric, route(fabric, 0, 4), 1.0);
  sum.add(fabric, route(fabric, 1, 8), 1.0);
  double busiest = 0;
  for (const LinkLoad& load : sum.loads(Bytes{9e6})) {
    if (fabric.links[load.link].kind == LinkKind::kTrunk)
      busiest = std::max(busiest, load.bytes);
    else
      EXPECT_EQ(load.bytes, 9e6) << "a NIC carries one flow";
  }
  return busiest;
}

TEST(LoadSum, flows_that_collide_on_a_trunk_keep_it_busy_for_longer) {
  const Transport lossy = {"lossy", 0.1, 0.5, 0};
  EXPECT_EQ(busiest_trunk(colliding_fabric(Routing::kStatic, {})), 2 * 9e6);
  EXPECT_DOUBLE_EQ(busiest_trunk(colliding_fabric(Routing::kStatic, lossy)), 2 * 9e6 / 0.9);
  EXPECT_EQ(busiest_trunk(colliding_fabric(Routing::kAdaptive, lossy)), 2 * 9e6) << "spraying avoids it";
}

}  // namespace
}  // namespace podsim
