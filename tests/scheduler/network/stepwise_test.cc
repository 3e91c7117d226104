// Stepwise simulation: closed forms, agreement with fluid plans, contention between collectives,
// conservation.
#include "scheduler/network/stepwise.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/collectives/fabrics.h"

namespace podsim::stepwise_test {
namespace {

// Hosts without NVLink below one another: 16 to a leaf, uplinks oversubscribed by `ratio`.
Fabric fat_tree(int hosts, double ratio = 1) {
  FabricSpec spec = gpu_spec(hosts, 1);
  spec.gpu->rail_optimised = false;
  spec.gpu->tiers = {{.down = 16, .oversubscription = ratio}, {.down = 64}, {.down = 64}};
  return build_fabric(spec);
}

StepPlan steps(Algorithm algorithm, const Fabric& fabric, CollectiveKind kind, double bytes,
               const std::vector<ChipId>& group) {
  auto plan = plan_steps(algorithm, fabric, {kind, {bytes}}, group);
  EXPECT_TRUE(plan) << to_string(algorithm) << ' ' << to_string(kind);
  return plan ? *std::move(plan) : StepPlan{};
}

Time fluid(Algorithm algorithm, const Fabric& fabric, CollectiveKind kind, double bytes,
           const std::vector<ChipId>& group) {
  return predict(fabric, *plan_with(algorithm, fabric, {kind, {bytes}}, group));
}

void expect_same(Algorithm algorithm, const Fabric& fabric, CollectiveKind kind, double bytes,
                 const std::vector<ChipId>& group) {
  SCOPED_TRACE(std::string(to_string(algorithm)) + " " + std::string(to_string(kind)));
  EXPECT_EQ(simulate_steps(fabric, steps(algorithm, fabric, kind, bytes, group)).ps,
            fluid(algorithm, fabric, kind, bytes, group).ps);
}

constexpr CollectiveKind kPassed[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                      CollectiveKind::kReduceScatter};

// 2 (N - 1) (S / (N B) + L): 42.987875 ms for 1e9 B on an 8x8x8 torus, whose longest hop between ring
// neighbours is 3 links of 1 us. One path per hop: traffic that splits over several is faster than a link.
TEST(Stepwise, a_ring_on_a_torus_takes_its_closed_form) {
  FabricSpec spec = torus_spec({8, 8, 8});
  spec.routing = Routing::kDimensionOrder;
  const Fabric fabric = build_fabric(spec);
  const StepPlan plan = steps(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, 1e9, all_chips(fabric));
  EXPECT_EQ(plan.transfers(), 523'264);
  EXPECT_EQ(simulate_steps(fabric, plan).ps, 42'987'875'000);
}

// A longer hop that splits over several ways has its data through sooner, so no step waits for the busiest
// link and the longest latency after it, as in a fluid plan. Longest hops have two links more than others.
TEST(Stepwise, a_ring_whose_longer_hops_split_is_faster_than_fluid_by_less_than_the_latency_of_these) {
  for (const int length : {4, 5}) {
    FabricSpec spec = torus_spec({4, 4, length});
    const Fabric split = build_fabric(spec);
    const std::vector<ChipId> group = all_chips(split);
    const Time apart =
        fluid(Algorithm::kRing, split, CollectiveKind::kAllReduce, 1e9, group) -
        simulate_steps(split, steps(Algorithm::kRing, split, CollectiveKind::kAllReduce, 1e9, group));
    EXPECT_GT(apart, Time{});
    EXPECT_LE(apart.ps, 2 * (std::ssize(group) - 1) * 2'000'000);
    spec.routing = Routing::kDimensionOrder;
    expect_same(Algorithm::kRing, build_fabric(spec), CollectiveKind::kAllReduce, 1e9, group);
  }
}

TEST(Stepwise, tells_a_share_that_rises_from_nothing_to_all) {
  const Fabric fabric = build_fabric(torus_spec({8, 8, 4}));
  const StepPlan plan = steps(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, 1e9, all_chips(fabric));
  std::vector<double> shares;
  const Time told = simulate_steps(fabric, plan, [&](double share) { shares.push_back(share); });
  EXPECT_EQ(told, simulate_steps(fabric, plan));
  ASSERT_EQ(shares.size(), 3u);  // 130,560 transfers
  EXPECT_LT(shares.front(), 0.01);
  EXPECT_NEAR(shares[1], 0.5, 0.01);
  EXPECT_EQ(shares.back(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
}

TEST(Stepwise, a_ring_on_a_fat_tree_takes_its_closed_form_at_any_oversubscription) {
  for (const double ratio : {1.0, 2.0, 16.0}) {
    const Fabric fabric = fat_tree(512, ratio);
    const StepPlan plan = steps(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, 1e9, all_chips(fabric));
    EXPECT_EQ(simulate_steps(fabric, plan).ps, 1022LL * (39'062'500 + 4'000'000));
  }
}

// Sizes whose steps are no whole number of picoseconds, and thousands of them.
TEST(Stepwise, rounding_does_not_add_up_over_thousands_of_steps) {
  const Fabric fabric = torus({16, 16, 1});
  for (const double bytes : {1e8 + 1, 12345.0, 999'999'937.0})
    expect_same(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, bytes, all_chips(fabric));
}

TEST(Stepwise, equals_the_fluid_plan_where_lanes_share_no_link) {
  const Fabric cube = torus({4, 4, 4}), square = torus({8, 8, 1}), tree = fat_tree(64);
  const Fabric domain = gpus(8), cluster = gpus(64);
  for (const CollectiveKind kind : kPassed) {
    expect_same(Algorithm::kTorus, cube, kind, 1e9, all_chips(cube));
    expect_same(Algorithm::kTorus, square, kind, 1e9, all_chips(square));
    expect_same(Algorithm::kRing, cluster, kind, 1e9, all_chips(cluster));
    expect_same(Algorithm::kBidirectionalRing, tree, kind, 1e9, all_chips(tree));
    expect_same(Algorithm::kHalvingDoubling, tree, kind, 1e9, all_chips(tree));
    expect_same(Algorithm::kHierarchical, cluster, kind, 1e9, all_chips(cluster));
    expect_same(Algorithm::kRing, domain, kind, 1e9, first_chips(5));
  }
}

TEST(Stepwise, rings_in_every_order_take_what_a_fluid_plan_of_an_nvlink_mesh_takes) {
  FabricSpec spec = gpu_spec(4, 4);
  spec.gpu->nvlink_mesh = true;
  const Fabric fabric = build_fabric(spec);
  for (const int ranks : {2, 3, 4})
    for (const CollectiveKind kind : kPassed)
      expect_same(Algorithm::kRing, fabric, kind, 1.2e9, first_chips(ranks));
}

TEST(Stepwise, channels_cost_what_they_cost_a_fluid_plan) {
  FabricSpec spec = gpu_spec(64);
  ChannelSpec channel;
  channel.setup = Time{7'000'000};
  channel.chunk = {1 << 20};
  channel.chunk_overhead = Time{2'000'000};
  channel.nvlink_efficiency = 0.9;
  channel.nic_efficiency = 0.5;
  spec.channels.push_back(channel);
  const Fabric fabric = build_fabric(spec);
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kHierarchical})
    for (const double bytes : {1e5, 1e9}) {
      const auto group = all_chips(fabric);
      const StepPlan plan = steps(algorithm, fabric, CollectiveKind::kAllReduce, bytes, group);
      // A fluid plan is rounded phase by phase, and there are up to three.
      EXPECT_NEAR(static_cast<double>(simulate_steps(fabric, plan).ps),
                  static_cast<double>(fluid(algorithm, fabric, CollectiveKind::kAllReduce, bytes, group).ps),
                  3);
    }
}

TEST(Stepwise, a_library_costs_what_it_costs_a_fluid_plan) {
  FabricSpec spec = gpu_spec(64);
  spec.library.emplace();
  for (LibrarySpec::Part* part : {&spec.library->domain, &spec.library->network})
    part->fill({0.7, Time{5'000'000}, Time{2'000'000}, {1 << 20}, Time{1'000'000}});
  spec.library->landing = {900e9};
  const Fabric fabric = build_fabric(spec);
  for (const double bytes : {1e3, 1e9}) {
    const auto group = all_chips(fabric);
    const StepPlan plan = steps(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, bytes, group);
    EXPECT_NEAR(
        static_cast<double>(simulate_steps(fabric, plan).ps),
        static_cast<double>(fluid(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, bytes, group).ps), 3);
  }
}

TEST(Stepwise, all_pairs_at_once_take_what_the_busiest_link_takes) {
  const Fabric cube = torus({4, 4, 4}), tree = fat_tree(64), domain = gpus(8);
  for (const Fabric* fabric : {&cube, &tree, &domain})
    expect_same(Algorithm::kDirect, *fabric, CollectiveKind::kAllToAll, 64e6, all_chips(*fabric));
  expect_same(Algorithm::kDirect, tree, CollectiveKind::kPermute, 1e6, all_chips(tree));
  expect_same(Algorithm::kDirect, tree, CollectiveKind::kSendReceive, 1e6, {3, 40});
}

// Two rings, each with a member on either leaf, cross one pair of uplinks of a NIC's bandwidth: half speed.
TEST(Stepwise, two_rings_halve_the_uplink_that_they_share) {
  const Fabric fabric = fat_tree(32, 16);
  const StepPlan a = steps(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, 1e8, {0, 16});
  const StepPlan b = steps(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, 1e8, {1, 17});
  const Time alone = simulate_steps(fabric, a);
  EXPECT_EQ(alone.ps, 2LL * (1'000'000'000 + 4'000'000));
  const StartedPlan both[] = {{&a, {}}, {&b, {}}};
  const StepwiseResult together = simulate_steps(fabric, both);
  EXPECT_EQ(together.finish[0].ps, 2LL * (2'000'000'000 + 4'000'000));
  EXPECT_EQ(together.finish[1], together.finish[0]);
  // The second begins when the first is gone: neither is slowed.
  const StartedPlan apart[] = {{&a, {}}, {&b, alone}};
  EXPECT_EQ(simulate_steps(fabric, apart).finish[1], alone + alone);
}

TEST(Stepwise, a_group_of_one_has_nothing_to_do) {
  const Fabric fabric = gpus(8);
  EXPECT_EQ(simulate_steps(fabric, steps(Algorithm::kRing, fabric, CollectiveKind::kAllReduce, 1e9, {3})),
            Time{});
}

TEST(Stepwise, an_empty_tensor_takes_only_latencies) {
  const Fabric fabric = torus({4, 4, 4});
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTorus})
    expect_same(algorithm, fabric, CollectiveKind::kAllReduce, 0, all_chips(fabric));
}

TEST(Stepwise, random_groups_stay_above_the_lower_bound_and_carry_what_the_fluid_plan_carries) {
  std::mt19937 random(7);
  const Fabric cube = torus({4, 4, 4}), cluster = gpus(64), line = mesh({6, 5, 1});
  for (int round = 0; round < 24; ++round) {
    const Fabric& fabric = *std::array{&cube, &cluster, &line}[round % 3];
    std::vector<ChipId> group = all_chips(fabric);
    std::shuffle(group.begin(), group.end(), random);
    group.resize(2 + random() % (group.size() / 2));
    const CollectiveKind kind = kPassed[random() % 3];
    const Collective collective{kind, {1e3 + static_cast<double>(random() % 100'000'000)}};
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kBidirectionalRing}) {
      const auto plan = plan_steps(algorithm, fabric, collective, group);
      ASSERT_TRUE(plan);
      const StartedPlan alone[] = {{&*plan, {}}};
      const StepwiseResult result = simulate_steps(fabric, alone);
      EXPECT_GE(result.finish[0], lower_bound(fabric, collective, group));
      std::vector<double> expected(fabric.links.size(), 0);
      const auto whole = plan_with(algorithm, fabric, collective, group);
      for (const Phase& phase : whole->phases)
        for (const LinkLoad& load : phase.loads) expected[load.link] += load.bytes;
      for (std::size_t link = 0; link < expected.size(); ++link)
        EXPECT_NEAR(result.link_bytes[link], expected[link], 1e-9 * collective.bytes.value);
    }
  }
}

TEST(Stepwise, a_transport_costs_nothing_where_flows_are_spread_over_all_paths) {
  FabricSpec spec = torus_spec({4, 4, 4});
  const Fabric ideal = build_fabric(spec);
  spec.transport = {"lossy", 0.08, 0.715, 0.1};
  const Fabric spread = build_fabric(spec);
  spec.routing = Routing::kDimensionOrder;
  const Fabric steered = build_fabric(spec);
  const auto time = [](const Fabric& fabric) {
    return simulate_steps(
        fabric, steps(Algorithm::kDirect, fabric, CollectiveKind::kAllToAll, 1e9, all_chips(fabric)));
  };
  EXPECT_EQ(time(spread), time(ideal));
  EXPECT_GT(time(steered), time(ideal));
}

}  // namespace
}  // namespace podsim::stepwise_test
