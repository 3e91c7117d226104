// Collectives on damaged fabrics: known loads, closed forms, sums over all pairs, and bounds.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/collectives/fabrics.h"
#include "topology/failures.h"
#include "topology/route.h"

namespace podsim::damage_test {
namespace {

using Failures = std::vector<Failure>;

Fabric damaged(const Fabric& fabric, const Failures& failures) {
  EXPECT_EQ(explain_impossible(fabric, failures), "");
  return with_failures(fabric, failures);
}

Fabric ocs_pod(std::array<int, 3> shape) { return build_fabric(torus_spec(shape, 4)); }

double busiest(const Fabric& fabric, const Phase& phase) {
  return std::max(busiest_bytes(fabric, phase, LinkKind::kIci),
                  busiest_bytes(fabric, phase, LinkKind::kIciOptical));
}

void expect_loads_of_all_pairs(const Fabric& fabric, const std::vector<ChipId>& group) {
  std::map<LinkId, double> expected;
  Time longest;
  for (const ChipId from : group)
    for (const ChipId to : group) {
      const auto hops = route(fabric, from, to);
      for (const RouteHop& hop : hops) expected[hop.link] += hop.share;
      longest = std::max(longest, route_latency(fabric, hops));
    }
  const Bytes one_per_pair{static_cast<double>(group.size())};
  const auto plan = plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kAllToAll, one_per_pair}, group);
  const Phase& phase = plan->phases[0];
  EXPECT_NEAR(static_cast<double>(phase.latency.ps), static_cast<double>(longest.ps), 1);
  ASSERT_EQ(phase.loads.size(), expected.size());
  for (const LinkLoad& load : phase.loads) ASSERT_NEAR(load.bytes, expected[load.link], 1e-6);
}

// Computed by an independent program: even splitting over the shortest paths that are left.
TEST(DamagedTorus, all_to_all_has_the_known_loads_round_two_missing_cables) {
  const Fabric fabric = damaged(torus({4, 4, 4}), {FailedCable{0, 1}, FailedCable{21, 37}});
  const auto plan =
      plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kAllToAll, {64e6}}, all_chips(fabric));
  EXPECT_NEAR(busiest(fabric, plan->phases[0]), 37096157.40740742, 1e-3);
}

// The four detours of an x cable at one position take a quarter each; their cables carry a full share of
// their own.
TEST(DamagedTorus, one_ocs_down_slows_a_bandwidth_bound_all_reduce_of_8x8x8_by_a_quarter) {
  const Fabric whole = ocs_pod({8, 8, 8});
  const Fabric fabric = damaged(whole, {FailedOcs{0, {0, 0}}});
  EXPECT_EQ(whole.links.size() - fabric.links.size(), 16u);
  const Collective collective = {CollectiveKind::kAllReduce, {3e9}};
  const auto before = plan_with(Algorithm::kTorus, whole, collective, all_chips(whole));
  const auto after = plan_with(Algorithm::kTorus, fabric, collective, all_chips(fabric));
  const double share = busiest(whole, before->phases[0]);
  EXPECT_NEAR(share, 511.0 / 512 * 1e9, 1e-3);
  std::map<std::pair<ChipId, ChipId>, double> expected;
  for (const Link& link : fabric.links) expected[{link.from, link.to}] = share;
  const TorusSlice& slice = fabric.slices[0];
  for (const int y : {0, 4})
    for (const int z : {0, 4})
      for (const auto& [x, direction] : {std::pair{3, +1}, {4, -1}, {7, +1}, {0, -1}})
        for (const auto& [d, side] : {std::pair{1, +1}, {1, -1}, {2, +1}, {2, -1}}) {
          const ChipId from = slice.chip({x, y, z}), to = slice.neighbour(from, 0, direction);
          const ChipId beside = slice.neighbour(from, d, side), beyond = slice.neighbour(to, d, side);
          for (const auto& hop : {std::pair{from, beside}, {beside, beyond}, {beyond, to}})
            expected[hop] += share / 4;
        }
  for (const LinkLoad& load : after->phases[0].loads) {
    const Link& link = fabric.links[load.link];
    ASSERT_NEAR(load.bytes, (expected[{link.from, link.to}]), 1e-3);
  }
  EXPECT_NEAR(busiest(fabric, after->phases[0]), 1.25 * share, 1e-3);
  // A step along x takes three links where one is missing.
  EXPECT_EQ(after->phases[0].latency, 2 * (7 * 3 + 7 + 7) * kIciLatency);
}

TEST(DamagedTorus, all_to_all_is_the_sum_over_all_pairs) {
  for (const Routing routing :
       {Routing::kAdaptive, Routing::kDimensionOrder, Routing::kEcmp, Routing::kStatic}) {
    Fabric fabric = damaged(ocs_pod({4, 4, 8}), {FailedOcs{0, {1, 2}}, FailedCable{0, 4}});
    fabric.routing = routing;
    expect_loads_of_all_pairs(fabric, all_chips(fabric));
    expect_loads_of_all_pairs(fabric, {0, 1, 4, 21, 22, 64});
  }
}

TEST(UndamagedTorus, all_to_all_under_every_routing_is_the_sum_over_all_pairs) {
  for (const std::array<int, 3> shape : {std::array{4, 4, 4}, {6, 4, 1}, {5, 8, 2}})
    for (const Routing routing : {Routing::kDimensionOrder, Routing::kEcmp, Routing::kStatic}) {
      Fabric fabric = torus(shape);
      fabric.routing = routing;
      expect_loads_of_all_pairs(fabric, all_chips(fabric));
    }
}

TEST(DamagedCluster, all_to_all_is_the_sum_over_all_pairs) {
  const Fabric whole = gpus(64);
  const NodeId leaf = 64 + 8, spine = 64 + 8 + 8;
  for (const Failures& failures :
       {Failures{FailedPort{5, LinkKind::kNic}}, Failures{FailedPort{5, LinkKind::kNvlink}},
        Failures{FailedSwitch{NodeKind::kNvSwitch, 2}}, Failures{FailedSwitch{NodeKind::kLeaf, 3}},
        Failures{FailedCable{leaf, spine}, FailedPort{0, LinkKind::kNic}, FailedPort{1, LinkKind::kNic}}}) {
    const Fabric fabric = damaged(whole, failures);
    expect_loads_of_all_pairs(fabric, all_chips(fabric));
    expect_loads_of_all_pairs(fabric, {0, 1, 5, 12, 20, 40, 41});
  }
  const Fabric slices = damaged(multislice({4, 2, 1}, 3), {FailedSwitch{NodeKind::kHost, 1}});
  expect_loads_of_all_pairs(slices, all_chips(slices));
}

TEST(IndividualSwitches, all_to_all_is_the_sum_over_all_pairs) {
  for (const Routing routing : {Routing::kEcmp, Routing::kStatic}) {
    FabricSpec spec = gpu_spec(64);
    spec.gpu->tiers = {{.down = 4}, {.down = 8}, {.down = 4}};
    spec.routing = routing;
    Fabric fabric = build_fabric(spec);
    expect_loads_of_all_pairs(fabric, all_chips(fabric));
    fabric.routing = Routing::kAdaptive;
    expect_loads_of_all_pairs(fabric, all_chips(fabric));
  }
}

TEST(IndividualSwitches, spraying_takes_as_long_as_over_bundled_trunks) {
  for (const CollectiveKind kind :
       {CollectiveKind::kAllToAll, CollectiveKind::kAllReduce, CollectiveKind::kPermute}) {
    FabricSpec spec = gpu_spec(64);
    spec.gpu->tiers = {{.down = 4, .oversubscription = 2}, {.down = 8}, {.down = 4}};
    const Fabric bundles = build_fabric(spec);
    spec.routing = Routing::kEcmp;
    Fabric individual = build_fabric(spec);
    individual.routing = Routing::kAdaptive;
    const Collective collective = {kind, {1e9}};
    const Time sprayed = predict(individual, plan(individual, collective, all_chips(individual)));
    const Time bundled = predict(bundles, plan(bundles, collective, all_chips(bundles)));
    EXPECT_NEAR(static_cast<double>(sprayed.ps), static_cast<double>(bundled.ps), 2);
    individual.routing = Routing::kEcmp;
    EXPECT_GE(predict(individual, plan(individual, collective, all_chips(individual))), bundled);
  }
}

// Of 8 rails between two domains one is carried by the NICs of the other seven.
TEST(DamagedCluster, one_nic_down_costs_a_hierarchical_all_reduce_a_seventh_more_over_the_others) {
  const Fabric whole = gpus(16);
  const Fabric fabric = damaged(whole, {FailedPort{0, LinkKind::kNic}});
  const Collective collective = {CollectiveKind::kAllReduce, {8e9}};
  const auto plan = plan_with(Algorithm::kHierarchical, fabric, collective, all_chips(fabric));
  ASSERT_EQ(plan->phases.size(), 3u);
  // Each of two ranks of a rail sends 2 x 1/2 of the 1e9 bytes that a rail holds.
  EXPECT_NEAR(busiest_bytes(fabric, plan->phases[1], LinkKind::kNic), 8.0 / 7 * 1e9, 1e-3);
  EXPECT_EQ(plan->phases[1].latency, 2 * (2 * kNvlinkLatency + 4 * kNicLatency));
}

TEST(DamagedFabric, no_plan_is_faster_than_the_bound) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 30; ++round) {
    const Fabric whole = round % 3 == 0 ? gpus(32) : round % 3 == 1 ? torus({4, 4, 3}) : ocs_pod({4, 4, 8});
    Failures failures;
    while (failures.size() < 3) {
      const Link& link = whole.links[random() % whole.links.size()];
      failures.push_back(FailedCable{link.from, link.to});
      if (!explain_impossible(whole, failures).empty()) failures.pop_back();
    }
    const Fabric fabric = damaged(whole, failures);
    for (int kind = 0; kind <= static_cast<int>(CollectiveKind::kBarrier); ++kind) {
      const auto group =
          first_chips(static_cast<CollectiveKind>(kind) == CollectiveKind::kSendReceive ? 2 : 32);
      const Collective collective = {static_cast<CollectiveKind>(kind), {1e8}};
      const Time time = predict(fabric, plan(fabric, collective, group));
      ASSERT_GE(time, lower_bound(fabric, collective, group)) << to_string(collective.kind);
    }
  }
}

}  // namespace
}  // namespace podsim::damage_test
