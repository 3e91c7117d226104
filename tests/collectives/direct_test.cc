// Tests of pairwise collectives: all-to-all by symmetry against a sum over all pairs, send, permute.
#include <gtest/gtest.h>

#include <map>

#include "tests/collectives/fabrics.h"
#include "topology/route.h"

namespace podsim::direct_test {
namespace {

constexpr CollectiveKind kAllToAll = CollectiveKind::kAllToAll;

// The definition: every rank sends bytes / n to every other over its route.
void expect_loads_of_all_pairs(const Fabric& fabric, const std::vector<ChipId>& group) {
  const double n = static_cast<double>(group.size());
  std::map<LinkId, double> expected;
  Time longest;
  for (const ChipId from : group)
    for (const ChipId to : group) {
      const auto hops = route(fabric, from, to);
      for (const RouteHop& hop : hops) expected[hop.link] += hop.share * 1e6 / n;
      longest = std::max(longest, route_latency(fabric, hops));
    }
  const auto plan = plan_with(Algorithm::kDirect, fabric, {kAllToAll, {1e6}}, group);
  ASSERT_TRUE(plan);
  const Phase& phase = plan->phases[0];
  EXPECT_EQ(phase.latency, longest);
  ASSERT_EQ(phase.loads.size(), expected.size());
  auto pair = expected.begin();
  for (const LinkLoad& load : phase.loads) {
    EXPECT_EQ(load.link, pair->first);
    EXPECT_NEAR(load.bytes / pair->second, 1, 1e-9);
    ++pair;
  }
}

TEST(AllToAll, on_tori_is_the_sum_over_all_pairs) {
  for (const std::array<int, 3> shape : {std::array{4, 4, 4}, {3, 4, 5}, {2, 4, 3}, {2, 2, 2}, {8, 1, 1}}) {
    const Fabric fabric = torus(shape);
    expect_loads_of_all_pairs(fabric, all_chips(fabric));
  }
}

// S L / 8 on each link; squares of lengths beyond 46,340 pass 2^31.
TEST(AllToAll, round_a_ring_of_any_length_takes_its_closed_form) {
  for (const int length : {46'340, 46'344, 65'536, 200'000}) {
    const Fabric fabric = torus({length, 1, 1});
    const auto plan = plan_with(Algorithm::kDirect, fabric, {kAllToAll, {1e9}}, all_chips(fabric));
    ASSERT_EQ(plan->phases[0].loads.size(), 2 * static_cast<std::size_t>(length));
    EXPECT_DOUBLE_EQ(plan->phases[0].loads[7].bytes, 1e9 * length / 8);
  }
}

TEST(AllToAll, on_meshes_and_partial_groups_is_the_sum_over_all_pairs) {
  const Fabric flat = mesh({4, 3, 1});
  expect_loads_of_all_pairs(flat, all_chips(flat));
  const Fabric fabric = torus({4, 4, 4});
  expect_loads_of_all_pairs(fabric, {0, 1, 2, 3, 16, 17, 18, 19});
  expect_loads_of_all_pairs(fabric, {0, 5, 9, 33});
}

TEST(AllToAll, of_many_chips_evenly_round_their_rings_is_the_sum_over_all_pairs) {
  const Fabric fabric = torus({8, 6, 6});
  for (const int offset : {0, 1}) {
    std::vector<ChipId> group;
    for (ChipId chip = offset; chip < fabric.chips; chip += 4) group.push_back(chip);
    expect_loads_of_all_pairs(fabric, group);
  }
}

TEST(AllToAll, of_many_chips_anywhere_in_a_slice_is_the_sum_over_all_pairs) {
  const Fabric fabric = torus({4, 6, 5});
  std::vector<ChipId> group;
  for (ChipId chip = 0; chip < 90; ++chip) group.push_back(chip);
  expect_loads_of_all_pairs(fabric, group);
}

TEST(AllToAll, on_twisted_slices_is_the_sum_over_all_pairs) {
  const Fabric fabric = twisted_torus({4, 4, 8});
  expect_loads_of_all_pairs(fabric, all_chips(fabric));
}

TEST(AllToAll, on_gpu_clusters_is_the_sum_over_all_pairs) {
  for (const bool rails : {true, false}) {
    FabricSpec spec = gpu_spec(64);
    spec.gpu->rail_optimised = rails;
    spec.gpu->tiers = {{.down = 16}, {.down = 2}, {.down = 64}};
    const Fabric fabric = build_fabric(spec);
    expect_loads_of_all_pairs(fabric, all_chips(fabric));
    expect_loads_of_all_pairs(fabric, first_chips(8));
    expect_loads_of_all_pairs(fabric, {0, 1, 2, 9, 17, 18, 40});
  }
  const Fabric lone = gpus(16, 1);
  expect_loads_of_all_pairs(lone, all_chips(lone));
}

TEST(AllToAll, over_the_dcn_is_the_sum_over_all_pairs) {
  const Fabric fabric = multislice({4, 2, 1}, 3);
  expect_loads_of_all_pairs(fabric, all_chips(fabric));
  expect_loads_of_all_pairs(fabric, {0, 1, 8, 9, 10});
}

TEST(Send, goes_from_the_first_rank_to_the_second) {
  const Fabric fabric = torus({8, 1, 1});
  const auto plan =
      plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kSendReceive, {1e6}}, std::vector<ChipId>{6, 0});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->phases[0].loads.size(), 2u);
  EXPECT_EQ(fabric.links[plan->phases[0].loads[0].link].from, 6);
  EXPECT_EQ(predict(fabric, *plan), 2 * kIciLatency + Time::seconds(1e6 / kIciRate));
}

TEST(Send, needs_exactly_two_ranks) {
  const Fabric fabric = torus({8, 1, 1});
  EXPECT_FALSE(plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kSendReceive, {1e6}}, first_chips(3)));
}

TEST(Permute, shifts_by_one_rank_and_closes_the_ring) {
  const Fabric fabric = torus({8, 1, 1});
  const auto plan =
      plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kPermute, {1e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].loads.size(), 8u);
  EXPECT_EQ(predict(fabric, *plan), kIciLatency + Time::seconds(1e6 / kIciRate));
}

}  // namespace
}  // namespace podsim::direct_test
