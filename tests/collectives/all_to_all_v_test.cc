// All-to-all with unequal parts: conservation, the sum over all pairs, equality with equal parts, bounds.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/collectives/fabrics.h"
#include "topology/failures.h"
#include "topology/route.h"

namespace podsim::all_to_all_v_test {
namespace {

std::vector<double> random_shares(std::size_t ranks, std::mt19937_64& random) {
  std::vector<double> shares(ranks);
  double sum = 0;
  for (double& share : shares) sum += share = static_cast<double>(random() % 1000);
  for (double& share : shares) share /= sum;
  return shares;
}

Collective exchange(std::vector<double> shares) {
  return {CollectiveKind::kAllToAll, {1e9}, std::move(shares)};
}

std::vector<Fabric> fabrics() {
  const Fabric pod = torus({4, 4, 4}), cluster = gpus(32);
  const std::vector<Failure> cut = {FailedCable{0, 1}}, no_nic = {FailedPort{3, LinkKind::kNic}};
  FabricSpec hashed = gpu_spec(64);
  hashed.routing = Routing::kEcmp;
  return {pod,
          mesh({4, 4, 2}),
          twisted_torus({4, 4, 8}),
          with_failures(pod, cut),
          cluster,
          with_failures(cluster, no_nic),
          build_fabric(hashed),
          multislice({4, 2, 1}, 3)};
}

TEST(UnequalAllToAll, is_the_sum_over_all_pairs) {
  std::mt19937_64 random(29);
  for (const Fabric& fabric : fabrics()) {
    const auto group = all_chips(fabric);
    const auto shares = random_shares(group.size(), random);
    std::map<LinkId, double> expected;
    for (const ChipId from : group)
      for (const ChipId to : group)
        for (const RouteHop& hop : route(fabric, from, to))
          expected[hop.link] += hop.share * 1e9 * shares[to];
    const auto plan = plan_with(Algorithm::kDirect, fabric, exchange(shares), group);
    for (const LinkLoad& load : plan->phases[0].loads) ASSERT_NEAR(load.bytes, expected[load.link], 1);
  }
}

TEST(UnequalAllToAll, delivers_what_is_sent) {
  std::mt19937_64 random(31);
  for (const Fabric& fabric : fabrics()) {
    const auto group = all_chips(fabric);
    const auto shares = random_shares(group.size(), random);
    std::vector<double> net(fabric.nodes.size(), 0.0);
    const auto plan = plan_with(Algorithm::kDirect, fabric, exchange(shares), group);
    for (const LinkLoad& load : plan->phases[0].loads) {
      net[fabric.links[load.link].from] += load.bytes;
      net[fabric.links[load.link].to] -= load.bytes;
    }
    const double ranks = fabric.chips;
    for (ChipId chip = 0; chip < fabric.chips; ++chip)
      ASSERT_NEAR(net[chip], 1e9 * (1 - shares[chip]) - 1e9 * (ranks - 1) * shares[chip], 10);
    for (std::size_t node = fabric.chips; node < net.size(); ++node) ASSERT_NEAR(net[node], 0, 10);
  }
}

TEST(UnequalAllToAll, with_equal_shares_is_the_all_to_all) {
  for (const Fabric& fabric : fabrics()) {
    const auto group = all_chips(fabric);
    const auto shares = std::vector<double>(group.size(), 1.0 / static_cast<double>(group.size()));
    const auto equal = plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kAllToAll, {1e9}}, group);
    const auto given = plan_with(Algorithm::kDirect, fabric, exchange(shares), group);
    ASSERT_EQ(equal->phases[0].loads.size(), given->phases[0].loads.size());
    for (std::size_t i = 0; i < equal->phases[0].loads.size(); ++i)
      EXPECT_EQ(equal->phases[0].loads[i].bytes, given->phases[0].loads[i].bytes);
    EXPECT_EQ(predict(fabric, *equal), predict(fabric, *given));
  }
}

TEST(UnequalAllToAll, is_never_faster_than_its_bound_nor_than_what_the_hottest_rank_takes_in) {
  std::mt19937_64 random(37);
  for (const Fabric& fabric : fabrics()) {
    const auto group = all_chips(fabric);
    for (int round = 0; round < 5; ++round) {
      const auto shares = random_shares(group.size(), random);
      const Time time = predict(fabric, plan(fabric, exchange(shares), group));
      ASSERT_GE(time, lower_bound(fabric, exchange(shares), group));
    }
    std::vector<double> one(group.size(), 0.0);
    one[0] = 1;
    ASSERT_GE(predict(fabric, plan(fabric, exchange(one), group)), lower_bound(fabric, exchange(one), group));
  }
}

// Either goes over into an equal one as the shares do.
TEST(UnequalAllToAll, takes_the_algorithms_of_an_equal_one) {
  const Fabric fabric = gpus(32);
  std::mt19937_64 random(41);
  const auto shares = random_shares(32, random);
  for (int algorithm = 0; algorithm <= static_cast<int>(kLastAlgorithm); ++algorithm) {
    const auto plan =
        plan_with(static_cast<Algorithm>(algorithm), fabric, exchange(shares), all_chips(fabric));
    EXPECT_EQ(plan.has_value(), plan_with(static_cast<Algorithm>(algorithm), fabric,
                                          {CollectiveKind::kAllToAll, {1e9}}, all_chips(fabric))
                                    .has_value());
  }
}

// Four domains of 8. A rank of rail r gets in its domain what goes to the rail's ranks, and passes it on.
TEST(UnequalAllToAll, by_rails_delivers_over_the_rail_of_each_rank) {
  const Fabric fabric = gpus(32);
  std::vector<double> shares(32, 0.5 / 31);
  shares[10] = 0.5;  // of the second domain, rail 2
  const auto plan = plan_with(Algorithm::kHierarchical, fabric, exchange(shares), all_chips(fabric));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->phases.size(), 2u);
  const double of_rail = 0.5 + 3 * 0.5 / 31;
  EXPECT_NEAR(busiest_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 7 * of_rail * 1e9, 1);
  EXPECT_NEAR(busiest_bytes(fabric, plan->phases[1], LinkKind::kNic), 24 * 0.5 * 1e9, 1);
}

// 8 GPUs behind an NVLink switch; the hottest takes in 7 parts of a half each.
TEST(UnequalAllToAll, behind_a_switch_takes_as_long_as_the_hottest_rank) {
  const Fabric fabric = gpus(8);
  std::vector<double> shares(8, 0.5 / 7);
  shares[3] = 0.5;
  const auto plan = plan_with(Algorithm::kDirect, fabric, exchange(shares), all_chips(fabric));
  EXPECT_EQ(predict(fabric, *plan), 2 * kNvlinkLatency + Time::seconds(7 * 0.5e9 / kNvlinkRate));
}

}  // namespace
}  // namespace podsim::all_to_all_v_test
