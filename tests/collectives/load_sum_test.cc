// Tests of the sums of link loads: order does not matter to the last bit, zeros are left out.
#include "collectives/load_sum.h"

#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim::load_sum_test {
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

TEST(LoadSum, amounts_on_a_link_are_added_from_the_least_however_many_there_are) {
  for (const int links : {3, 30, 300, 3000})
    for (const LinkId apart : {1, 5000}) {
      LoadSum forward, backward;
      for (int i = 0; i < 3 * links; ++i) {
        forward.add(i / 3 * apart, 0.1 * (i % 3 + 1));
        backward.add((links - 1 - i / 3) * apart, 0.1 * (3 - i % 3));
      }
      const auto loads = forward.loads(Bytes{1.0});
      const auto turned = backward.loads(Bytes{1.0});
      ASSERT_EQ(loads.size(), static_cast<std::size_t>(links));
      ASSERT_EQ(turned.size(), loads.size());
      for (int link = 0; link < links; ++link) {
        ASSERT_EQ(loads[link].link, link * apart);
        ASSERT_EQ(loads[link].bytes, 0.1 + 0.2 + 0.1 * 3);
        ASSERT_EQ(turned[link].bytes, loads[link].bytes);
      }
    }
}

TEST(LoadSum, is_as_good_as_new_once_its_loads_are_taken) {
  const Fabric fabric = build_fabric(gpu_spec(16, 8));
  const auto loads_of_near = [&](LoadSum& sum) {
    sum.add(fabric, route(fabric, 0, 1), 2.0);
    EXPECT_EQ(sum.longest_latency(), route_latency(fabric, route(fabric, 0, 1)));
    return sum.loads(Bytes{3.0});
  };
  LoadSum used, fresh;
  used.add(fabric, route(fabric, 0, 15), 1.0);
  used.loads(Bytes{1.0});
  const auto again = loads_of_near(used), once = loads_of_near(fresh);
  ASSERT_EQ(again.size(), once.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(again[i].link, once[i].link);
    EXPECT_EQ(again[i].bytes, once[i].bytes);
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

// In 3 of 8 GPUs of a server rails have thirds of the data, which round; in 4 of them all sums are exact.
TEST(LoadSum, counts_of_many_routes_add_up_to_the_last_bit_as_single_ones) {
  FabricSpec spec = gpu_spec(8192, 8);
  spec.gpu->tiers = {{.down = 32}, {.down = 32}, {.down = 32}};
  const Fabric listed = build_fabric(spec), told = build_fabric_by_rule(spec);
  ASSERT_NE(told.tree(), nullptr);
  for (const int members : {3, 4, 8})
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                      CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast}) {
      std::vector<ChipId> group;
      for (ChipId chip = 0; chip < spec.chips; ++chip)
        if (chip % 8 < members) group.push_back(chip);
      int plans = 0;
      for (int number = 0; number <= static_cast<int>(kLastAlgorithm); ++number) {
        const auto algorithm = static_cast<Algorithm>(number);
        const auto expected = plan_with(algorithm, listed, {kind, {1e6}}, group);
        const auto counted = plan_with(algorithm, told, {kind, {1e6}}, group);
        ASSERT_EQ(expected.has_value(), counted.has_value());
        if (!expected) continue;
        ++plans;
        SCOPED_TRACE(std::string(to_string(algorithm)) + " " + std::string(to_string(kind)));
        ASSERT_EQ(expected->phases.size(), counted->phases.size());
        for (std::size_t f = 0; f < expected->phases.size(); ++f) {
          const Phase &a = expected->phases[f], &b = counted->phases[f];
          ASSERT_EQ(a.latency, b.latency);
          ASSERT_EQ(a.loads.size(), b.loads.size());
          for (std::size_t i = 0; i < a.loads.size(); ++i) {
            ASSERT_EQ(a.loads[i].link, b.loads[i].link);
            ASSERT_EQ(a.loads[i].bytes, b.loads[i].bytes);
          }
        }
      }
      EXPECT_GT(plans, 1);
    }
}

TEST(LoadSum, more_amounts_than_are_counted_are_summed_one_by_one) {
  FabricSpec spec = gpu_spec(4096, 8);
  spec.gpu->tiers = {{.down = 32}, {.down = 32}, {.down = 32}};
  const Fabric listed = build_fabric(spec), told = build_fabric_by_rule(spec);
  LoadSum expected, counted;
  for (int i = 0; i < 20'000; ++i)
    for (LoadSum* sum : {&expected, &counted})
      sum->add(sum == &expected ? listed : told, i % 4000, i * 7 % 4096,
               i < 10'000 ? 0.5 : 0.1 * (i % 9 + 1));
  const auto a = expected.loads(Bytes{3.0}), b = counted.loads(Bytes{3.0});
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].link, b[i].link);
    ASSERT_EQ(a[i].bytes, b[i].bytes);
  }
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
}  // namespace podsim::load_sum_test
