// Routes: shares, flow conservation, tie splitting, twisted loads, up-down paths.
#include "topology/route.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/topology/fabrics.h"
#include "tests/topology/routes.h"

namespace podsim::route_test {
namespace {

// all_to_all_loads from one source: a torus looks alike from every chip, so the links of one direction of a
// dimension share equally what a single chip sends in that direction. [dimension][0: forward, 1: back]
std::array<std::array<double, 2>, 3> all_to_all_loads_by_symmetry(const Fabric& fabric) {
  std::array<std::array<double, 2>, 3> loads = {};
  const TorusSlice& slice = fabric.slices[0];
  for (ChipId to = 1; to < fabric.chips; ++to)
    for (const RouteHop& hop : route(fabric, 0, to)) {
      const Link& link = fabric.links[hop.link];
      for (int d = 0; d < 3; ++d)
        for (int back = 0; back < 2; ++back)
          if (slice.neighbour(link.from, d, back ? -1 : +1) == link.to) loads[d][back] += hop.share;
    }
  return loads;
}

double share_on(const Fabric& fabric, const std::vector<RouteHop>& hops, ChipId from, ChipId to) {
  const LinkId link = fabric.link_between(from, to);
  const auto found = std::ranges::find(hops, link, &RouteHop::link);
  return found == hops.end() ? 0 : found->share;
}

std::vector<std::string> names_along(const Fabric& fabric, const std::vector<RouteHop>& hops) {
  std::vector<std::string> names;
  for (const RouteHop& hop : hops) names.push_back(node_name(fabric, fabric.links[hop.link].to));
  return names;
}

TEST(Route, carries_every_byte_from_source_to_target_on_every_fabric) {
  std::mt19937_64 random(7);
  FabricSpec small_twist = ocs_spec({2, 2, 4}, true);
  small_twist.torus->cube = 2;
  for (const auto& spec :
       {small_twist, ocs_spec({4, 4, 8}), ocs_spec({4, 4, 8}, true), ocs_spec({4, 8, 8}, true),
        ocs_spec({4, 4, 2}), flat_spec(8, 16), torus_spec({5, 3, 2}, 0), multislice_spec({4, 4, 4}, 3),
        gpu_spec(8), gpu_spec(1024), gpu_spec(1024, false), gpu_spec(16384)}) {
    const Fabric fabric = build_fabric(spec);
    for (int pair = 0; pair < 200; ++pair) {
      const ChipId from = static_cast<ChipId>(random() % fabric.chips);
      const ChipId to = static_cast<ChipId>(random() % fabric.chips);
      ASSERT_NO_FATAL_FAILURE(expect_unit_flow(fabric, from, to))
          << spec.chips << ": " << from << " to " << to;
    }
  }
}

TEST(TorusRoute, neighbours_use_their_cable_alone) {
  const Fabric fabric = build_fabric(ocs_spec({4, 4, 4}));
  const auto hops = route(fabric, 0, 1);
  ASSERT_EQ(hops.size(), 1u);
  EXPECT_EQ(hops[0].link, fabric.link_between(0, 1));
  EXPECT_EQ(hops[0].share, 1);
}

TEST(TorusRoute, halfway_ties_split_evenly_both_ways) {
  const Fabric fabric = build_fabric(torus_spec({8, 1, 1}, 0));
  const auto hops = route(fabric, 0, 4);
  ASSERT_EQ(hops.size(), 8u);
  for (const RouteHop& hop : hops) EXPECT_EQ(hop.share, 0.5);
}

TEST(TorusRoute, without_wrap_the_long_way_is_never_taken) {
  const Fabric fabric = build_fabric(flat_spec(8, 8));
  EXPECT_EQ(route(fabric, 0, 7).size(), 7u);
}

TEST(TorusRoute, traffic_at_a_chip_splits_evenly_over_every_closer_neighbour) {
  const Fabric fabric = build_fabric(torus_spec({8, 8, 1}, 0));
  const TorusSlice& slice = fabric.slices[0];
  const auto at = [&](int x, int y) { return slice.chip({x, y, 0}); };
  const auto hops = route(fabric, at(0, 0), at(2, 1));
  EXPECT_EQ(share_on(fabric, hops, at(0, 0), at(1, 0)), 0.5);
  EXPECT_EQ(share_on(fabric, hops, at(0, 0), at(0, 1)), 0.5);
  EXPECT_EQ(share_on(fabric, hops, at(1, 0), at(2, 0)), 0.25);
  EXPECT_EQ(share_on(fabric, hops, at(1, 0), at(1, 1)), 0.25);
  EXPECT_EQ(share_on(fabric, hops, at(1, 1), at(2, 1)), 0.75);
}

// Source: link loads of a uniform all-to-all on a torus: N d / 8 on a ring of even d.
TEST(TorusRoute, all_to_all_on_a_regular_torus_loads_the_longest_dimension_with_n_d_over_8) {
  EXPECT_NEAR(std::ranges::max(all_to_all_loads(build_fabric(ocs_spec({4, 4, 8})))), 128, 1e-9);
  const auto loads = all_to_all_loads_by_symmetry(build_fabric(ocs_spec({4, 8, 16})));
  for (int d = 0; d < 3; ++d)
    for (const double one_way : loads[d]) EXPECT_NEAR(one_way, 512 * (4 << d) / 8.0, 1e-9);
}

TEST(TorusRoute, all_to_all_without_wrap_sends_half_of_the_pairs_over_the_middle) {
  const Fabric fabric = build_fabric(flat_spec(8, 8));
  const auto loads = all_to_all_loads(fabric);
  double over_middle = 0;
  for (int y = 0; y < 8; ++y)
    over_middle +=
        loads[fabric.link_between(fabric.slices[0].chip({3, y, 0}), fabric.slices[0].chip({4, y, 0}))];
  EXPECT_NEAR(over_middle, 32 * 32, 1e-9);
}

// ISCA 2023, "TPU v4": twisted tori of these shapes; the loads are those of minimal routing with equal
// splitting.
TEST(TorusRoute, all_to_all_on_a_twisted_torus_loads_all_links_equally) {
  const auto loads = all_to_all_loads(build_fabric(ocs_spec({4, 4, 8}, true)));
  EXPECT_NEAR(std::ranges::max(loads), 73.33, 0.005);
  EXPECT_NEAR(std::ranges::min(loads), std::ranges::max(loads), 1e-9);
}

TEST(TorusRoute, larger_twisted_tori_are_balanced_too) {
  const auto expect_all = [](const std::array<int, 3>& shape, double load) {
    for (const auto& both : all_to_all_loads_by_symmetry(build_fabric(ocs_spec(shape, true))))
      for (const double one_way : both) EXPECT_NEAR(one_way, load, 0.005);
  };
  expect_all({4, 8, 8}, 184);
  expect_all({8, 8, 16}, 1189.33);
  expect_all({8, 16, 16}, 2976);
}

TEST(TreeRoute, gpus_of_one_domain_meet_at_its_nvswitch) {
  const Fabric fabric = build_fabric(gpu_spec(64, false));
  EXPECT_EQ(names_along(fabric, route(fabric, 9, 14)), (std::vector<std::string>{"nvswitch 1", "chip 14"}));
}

TEST(TreeRoute, gpus_of_one_rail_meet_at_their_leaf) {
  const Fabric fabric = build_fabric(gpu_spec(256));
  EXPECT_EQ(names_along(fabric, route(fabric, 3, 8 + 3)), (std::vector<std::string>{"leaf 3", "chip 11"}));
}

TEST(TreeRoute, gpus_of_different_rails_meet_at_the_spine) {
  const Fabric fabric = build_fabric(gpu_spec(256));
  EXPECT_EQ(names_along(fabric, route(fabric, 3, 8 + 4)),
            (std::vector<std::string>{"leaf 3", "spine 0", "leaf 4", "chip 12"}));
}

TEST(TreeRoute, distant_gpus_meet_at_the_lowest_common_tier) {
  const Fabric fabric = build_fabric(gpu_spec(16384));
  // A scalable unit is 32 domains = 256 GPUs with 8 leaves; a spine serves 64 leaves = 8 units.
  EXPECT_EQ(names_along(fabric, route(fabric, 0, 256)),
            (std::vector<std::string>{"leaf 0", "spine 0", "leaf 8", "chip 256"}));
  EXPECT_EQ(names_along(fabric, route(fabric, 0, 2048 + 257)),
            (std::vector<std::string>{"leaf 0", "spine 0", "core 0", "spine 1", "leaf 73", "chip 2305"}));
}

TEST(TreeRoute, chips_of_different_slices_meet_over_hosts_and_dcn) {
  const Fabric fabric = build_fabric(multislice_spec({4, 4, 4}, 2));
  EXPECT_EQ(names_along(fabric, route(fabric, 5, 64 + 8)),
            (std::vector<std::string>{"host 1", "dcn 0", "dcn 2", "dcn 1", "host 18", "chip 72"}));
}

TEST(RouteLatency, is_the_sum_along_a_single_path) {
  const Fabric gpus = build_fabric(gpu_spec(256));
  EXPECT_EQ(route_latency(gpus, route(gpus, 3, 12)), (4 * Time::seconds(2e-6)));
  const Fabric slices = build_fabric(multislice_spec({4, 4, 4}, 2));
  EXPECT_EQ(route_latency(slices, route(slices, 5, 72)), (4 * Time::seconds(5e-6)));
}

TEST(RouteLatency, of_equal_shortest_paths_is_that_of_each) {
  const Fabric fabric = build_fabric(ocs_spec({4, 4, 8}, true));
  const TorusSlice& slice = fabric.slices[0];
  EXPECT_EQ(route_latency(fabric, route(fabric, 0, slice.chip({1, 1, 1}))), (3 * Time::seconds(1e-6)));
  EXPECT_EQ(route_latency(fabric, route(fabric, 7, 7)), Time{});
}

// Where links are missing routes are found by a search from the target, elsewhere by arithmetic.
TEST(TorusRoute, by_arithmetic_is_that_which_a_search_finds) {
  for (const std::array<int, 3>& shape :
       {std::array{5, 3, 2}, std::array{4, 4, 1}, std::array{2, 1, 6}, std::array{1, 7, 4}}) {
    const Fabric whole = build_fabric(torus_spec(shape, 0, {4, 5, 7}));
    Fabric searched = whole;
    searched.damaged = true;
    for (ChipId from = 0; from < whole.chips; ++from)
      for (ChipId to = 0; to < whole.chips; ++to) {
        const std::vector<RouteHop> hops = route(whole, from, to), expected = route(searched, from, to);
        ASSERT_TRUE(std::ranges::equal(
            hops, expected,
            [](const RouteHop& a, const RouteHop& b) { return a.link == b.link && a.share == b.share; }))
            << from << " to " << to << " of " << whole.chips;
      }
  }
}

}  // namespace
}  // namespace podsim::route_test
