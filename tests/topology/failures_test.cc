// Failures: what they take away, the ways that are left, and what cannot fail.
#include "topology/failures.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/topology/fabrics.h"
#include "tests/topology/routes.h"
#include "topology/gather_loads.h"
#include "topology/metrics.h"

namespace podsim::failures_test {
namespace {

using Failures = std::vector<Failure>;

Fabric damage(const FabricSpec& spec, const Failures& failures) {
  const Fabric fabric = build_fabric(spec);
  EXPECT_EQ(explain_impossible(fabric, failures), "");
  return with_failures(fabric, failures);
}

std::string why_not(const FabricSpec& spec, const Failures& failures) {
  return explain_impossible(build_fabric(spec), failures);
}

NodeId nth(const Fabric& fabric, NodeKind kind, int index) {
  return static_cast<NodeId>(std::ranges::find(fabric.nodes, kind, &Node::kind) - fabric.nodes.begin()) +
         index;
}

void expect_unit_flows(const Fabric& fabric, int pairs) {
  std::mt19937_64 random(11);
  for (int pair = 0; pair < pairs; ++pair) {
    const ChipId from = static_cast<ChipId>(random() % fabric.chips);
    const ChipId to = static_cast<ChipId>(random() % fabric.chips);
    ASSERT_NO_FATAL_FAILURE(expect_unit_flow(fabric, from, to)) << from << " to " << to;
  }
}

TEST(Failure, of_nothing_leaves_the_fabric_as_it_was) {
  const Fabric fabric = damage(ocs_spec({4, 4, 4}), {});
  EXPECT_FALSE(fabric.damaged);
  EXPECT_EQ(fabric.links.size(), 384u);
}

TEST(Failure, of_a_cable_takes_both_directions_and_keeps_the_rest_in_order) {
  const Fabric fabric = damage(ocs_spec({4, 4, 4}), {FailedCable{0, 1}});
  EXPECT_TRUE(fabric.damaged);
  EXPECT_EQ(fabric.links.size(), 382u);
  EXPECT_EQ(fabric.link_between(0, 1), -1);
  EXPECT_EQ(fabric.link_between(1, 0), -1);
  for (LinkId id = 0; id < 382; ++id)
    ASSERT_EQ(fabric.link_between(fabric.links[id].from, fabric.links[id].to), id);
}

TEST(Failure, of_a_cable_of_an_nvlink_mesh_is_passed_over_the_network) {
  FabricSpec spec = gpu_spec(32);
  spec.gpu->nvlink_mesh = true;
  for (const int in_a_domain : {2, 4, 8}) {
    spec.gpu->gpus_per_domain = in_a_domain;
    const Fabric fabric = damage(spec, {FailedCable{0, 1}});
    for (const auto& [from, to] : {std::pair{0, 1}, {1, 0}}) {
      ASSERT_NO_FATAL_FAILURE(expect_unit_flow(fabric, from, to)) << in_a_domain;
      for (const RouteHop& hop : route(fabric, from, to))
        EXPECT_NE(fabric.links[hop.link].kind, LinkKind::kNvlink) << in_a_domain;
    }
  }
}

TEST(Failure, of_a_torus_cable_is_passed_on_all_four_detours) {
  const Fabric fabric = damage(torus_spec({5, 5, 5}, 0), {FailedCable{0, 1}});
  const auto hops = route(fabric, 0, 1);
  EXPECT_EQ(hops.size(), 12u);
  for (const RouteHop& hop : hops) EXPECT_EQ(hop.share, 0.25);
  EXPECT_EQ(route_latency(fabric, hops), 3 * Time::seconds(1e-6));
}

// An independent computation of the same loads: 1e6 bytes per pair on a 4x4x4 torus without the cables 0-1
// and 21-37, split evenly over shortest paths.
TEST(Failure, of_two_torus_cables_gives_the_known_loads_of_an_all_to_all) {
  const Fabric fabric = damage(torus_spec({4, 4, 4}, 0), {FailedCable{0, 1}, FailedCable{21, 37}});
  const auto loads = all_to_all_loads(fabric);
  EXPECT_NEAR(1e6 * std::ranges::max(loads), 37096157.40740742, 1e-3);
  double sum = 0;
  for (const double load : loads) sum += load;
  EXPECT_NEAR(1e6 * sum / 380, 32357894.736842074, 1e-3);
}

TEST(Failure, of_torus_cables_keeps_dimension_order_where_it_can_and_a_single_path_everywhere) {
  for (const Routing routing : {Routing::kDimensionOrder, Routing::kEcmp, Routing::kStatic}) {
    FabricSpec spec = ocs_spec({4, 4, 8}, true);
    spec.routing = routing;
    const Fabric whole = build_fabric(spec), fabric = damage(spec, {FailedCable{0, 1}, FailedCable{21, 37}});
    expect_unit_flows(fabric, 300);
    for (const RouteHop& hop : route(fabric, 0, 1)) EXPECT_EQ(hop.share, 1);
    if (routing != Routing::kDimensionOrder) continue;
    EXPECT_EQ(route(fabric, 2, 127).size(), route(whole, 2, 127).size());
  }
}

TEST(Failure, of_an_ocs_takes_one_position_of_one_dimension_of_all_cubes) {
  const Fabric whole = build_fabric(ocs_spec({8, 8, 8}));
  const Fabric fabric = damage(ocs_spec({8, 8, 8}), {FailedOcs{0, {1, 2}}});
  EXPECT_EQ(whole.links.size() - fabric.links.size(), 2u * 8);  // 8 cubes, an in/out pair of each
  for (const Link& link : whole.links) {
    const auto at = whole.slices[0].coordinate(link.from), end = whole.slices[0].coordinate(link.to);
    const bool lost =
        link.kind == LinkKind::kIciOptical && at[0] != end[0] && at[1] % 4 == 1 && at[2] % 4 == 2;
    ASSERT_EQ(fabric.link_between(link.from, link.to) < 0, lost);
  }
}

// 48 OCSes: 3 dimensions x 16 positions.
TEST(Failure, of_one_ocs_after_another_takes_every_optical_link_once) {
  const Fabric whole = build_fabric(ocs_spec({4, 4, 8}, true));
  std::size_t lost = 0;
  for (int d = 0; d < 3; ++d)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        lost += whole.links.size() - with_failures(whole, Failures{FailedOcs{d, {i, j}}}).links.size();
  const auto optical = std::ranges::count(whole.links, LinkKind::kIciOptical, &Link::kind);
  EXPECT_EQ(lost, static_cast<std::size_t>(optical));
}

TEST(Failure, of_a_nic_leads_over_nvlink_and_the_nics_of_the_domain) {
  const Fabric fabric = damage(gpu_spec(64), {FailedPort{0, LinkKind::kNic}});
  const auto hops = route(fabric, 0, 8);
  ASSERT_NO_FATAL_FAILURE(expect_unit_flow(fabric, 0, 8));
  const NodeId nvswitch = nth(fabric, NodeKind::kNvSwitch, 0);
  for (const RouteHop& hop : hops) {
    const Link& link = fabric.links[hop.link];
    const bool detour = link.from == nvswitch || (link.kind == LinkKind::kNic && link.from < 8);
    EXPECT_DOUBLE_EQ(hop.share, detour ? 1.0 / 7 : hop.share);
  }
  EXPECT_EQ(std::ranges::count_if(hops, [&](const RouteHop& hop) { return hop.share < 0.5; }), 7 * 3);
  expect_unit_flows(fabric, 300);
  EXPECT_EQ(route(fabric, 1, 9).size(), 2u);  // nobody else is concerned
}

TEST(Failure, of_an_nvlink_port_leads_over_the_nics) {
  const Fabric fabric = damage(gpu_spec(64, false), {FailedPort{3, LinkKind::kNvlink}});
  EXPECT_EQ(route(fabric, 3, 4).size(), 2u);  // both on one leaf
  EXPECT_EQ(fabric.links[route(fabric, 3, 4)[0].link].kind, LinkKind::kNic);
  EXPECT_EQ(fabric.links[route(fabric, 2, 4)[0].link].kind, LinkKind::kNvlink);
  expect_unit_flows(fabric, 300);
}

TEST(Failure, of_a_leaf_leaves_its_gpus_the_other_rails) {
  const Fabric fabric = damage(gpu_spec(64), {FailedSwitch{NodeKind::kLeaf, 2}});
  expect_unit_flows(fabric, 300);
  for (const RouteHop& hop : route(fabric, 2, 10))
    EXPECT_NE(fabric.links[hop.link].to, nth(fabric, NodeKind::kLeaf, 2));
}

TEST(Failure, of_one_parallel_spine_narrows_the_bundles_to_it) {
  const Fabric whole = build_fabric(gpu_spec(512));
  const Fabric fabric = damage(gpu_spec(512), {FailedSwitch{NodeKind::kSpine, 0}});
  EXPECT_FALSE(fabric.damaged);
  for (std::size_t i = 0; i < whole.links.size(); ++i) {
    const double left = whole.links[i].kind == LinkKind::kTrunk ? 31.0 / 32 : 1;
    ASSERT_DOUBLE_EQ(fabric.links[i].bandwidth.value, left * whole.links[i].bandwidth.value);
  }
}

TEST(Failure, of_one_of_the_individual_spines_splits_its_traffic_over_the_others) {
  FabricSpec spec = gpu_spec(512);
  spec.routing = Routing::kEcmp;
  Fabric fabric = damage(spec, {FailedSwitch{NodeKind::kSpine, 5}});
  expect_unit_flows(fabric, 200);
  fabric.routing = Routing::kAdaptive;
  int spines = 0;
  for (const RouteHop& hop : route(fabric, 0, 9))
    if (fabric.nodes[fabric.links[hop.link].to].kind == NodeKind::kSpine) {
      EXPECT_DOUBLE_EQ(hop.share, 1.0 / 31);
      ++spines;
    }
  EXPECT_EQ(spines, 31);
}

TEST(Failure, of_a_cable_to_an_individual_spine_is_avoided_from_either_end) {
  FabricSpec spec = gpu_spec(512);
  spec.routing = Routing::kEcmp;
  const Fabric whole = build_fabric(spec);
  const NodeId leaf = nth(whole, NodeKind::kLeaf, 1), spine = nth(whole, NodeKind::kSpine, 3);
  Fabric fabric = damage(spec, {FailedCable{leaf, spine}});
  fabric.routing = Routing::kAdaptive;
  for (const auto& [from, to] : {std::pair{0, 9}, {9, 0}})
    for (const RouteHop& hop : route(fabric, from, to)) EXPECT_NE(fabric.links[hop.link].to, spine);
}

TEST(Failure, of_a_host_port_leads_over_the_neighbours_of_the_slice) {
  const Fabric fabric = damage(multislice_spec({4, 4, 4}, 2), {FailedSwitch{NodeKind::kHost, 0}});
  expect_unit_flows(fabric, 300);
}

TEST(Failure, is_measured_on_the_ways_that_are_left) {
  const FabricMetrics metrics = measure(damage(gpu_spec(64), {FailedPort{0, LinkKind::kNic}}));
  EXPECT_TRUE(metrics.connected);
  EXPECT_EQ(metrics.diameter_hops, 6);  // NVLink twice, then NIC, trunk, trunk, NIC
  const FabricMetrics torus = measure(damage(torus_spec({4, 4, 4}, 0), {FailedCable{0, 1}}));
  EXPECT_NEAR(torus.mean_hops, 32357894.736842074 * 380 / 1e6 / 64 / 63, 0.01);
}

TEST(GatheredLoads, are_the_sum_of_all_routes) {
  std::vector<Fabric> fabrics;
  for (const Routing routing :
       {Routing::kAdaptive, Routing::kDimensionOrder, Routing::kEcmp, Routing::kStatic}) {
    FabricSpec spec = ocs_spec({4, 4, 8}, true);
    spec.routing = routing;
    fabrics.push_back(build_fabric(spec));
    fabrics.push_back(damage(spec, {FailedCable{0, 1}, FailedOcs{2, {1, 1}}}));
    if (routing == Routing::kDimensionOrder) continue;
    FabricSpec gpus = gpu_spec(128);
    gpus.routing = routing;
    fabrics.push_back(damage(gpus, {FailedPort{3, LinkKind::kNic}, FailedPort{4, LinkKind::kNvlink}}));
  }
  fabrics.push_back(damage(multislice_spec({4, 4, 1}, 3), {FailedPort{0, LinkKind::kPcie}}));
  for (const Fabric& fabric : fabrics) {
    std::vector<ChipId> chips(fabric.chips);
    for (ChipId chip = 0; chip < fabric.chips; ++chip) chips[chip] = chip;
    GatherLoads gathered(fabric);
    for (const ChipId to : chips) gathered.add(chips, to);
    const auto expected = all_to_all_loads(fabric);
    for (LinkId link = 0; link < static_cast<LinkId>(fabric.links.size()); ++link)
      ASSERT_NEAR(gathered.units(link), expected[link], 1e-8);
  }
}

TEST(Failure, of_what_is_not_there_is_refused_with_what_is) {
  EXPECT_EQ(why_not(ocs_spec({4, 4, 4}), {FailedCable{0, 5}}),
            "no cable joins chip 0 and chip 5: chip 0 is joined to chip 1, chip 3, chip 4, chip 12, chip 16, "
            "chip 48");
  EXPECT_EQ(why_not(ocs_spec({4, 4, 4}), {FailedCable{0, 64}}),
            "there is no node 64: nodes are from 0 to 63");
  EXPECT_EQ(why_not(gpu_spec(8), {FailedPort{3, LinkKind::kNic}}), "chip 3 has no nic link");
  EXPECT_EQ(why_not(gpu_spec(8), {FailedPort{8, LinkKind::kNvlink}}),
            "there is no chip 8: chips are from 0 to 7");
  EXPECT_EQ(why_not(gpu_spec(64), {FailedSwitch{NodeKind::kLeaf, 8}}),
            "there is no leaf 8: they are from 0 to 7");
  EXPECT_EQ(why_not(gpu_spec(64), {FailedSwitch{NodeKind::kCore, 0}}), "this fabric has no core");
  EXPECT_EQ(why_not(gpu_spec(64), {FailedSwitch{NodeKind::kChip, 0}}),
            "a chip is not a switch: fail its ports");
}

TEST(Failure, of_an_ocs_needs_one) {
  EXPECT_EQ(why_not(flat_spec(8, 8), {FailedOcs{0, {0, 0}}}), "this fabric has no optical circuit switches");
  EXPECT_EQ(why_not(ocs_spec({4, 4, 4}), {FailedOcs{3, {0, 0}}}),
            "there is no dimension 3: dimensions are from 0 to 2");
  EXPECT_EQ(why_not(ocs_spec({4, 4, 4}), {FailedOcs{0, {0, 4}}}),
            "a cube's face has no position 4: positions are from 0 to 3");
  EXPECT_EQ(why_not(ocs_spec({2, 2, 1}), {FailedOcs{0, {0, 0}}}),
            "no link of this fabric passes this optical circuit switch");
}

TEST(Failure, must_leave_the_chips_connected) {
  EXPECT_EQ(why_not(torus_spec({4, 1, 1}, 0), {FailedCable{0, 1}}), "");
  EXPECT_EQ(why_not(torus_spec({4, 1, 1}, 0), {FailedCable{0, 1}, FailedCable{2, 3}}),
            "nothing leads from chip 0 to chip 1 any more");
  EXPECT_EQ(why_not(gpu_spec(8), {FailedSwitch{NodeKind::kNvSwitch, 0}}),
            "nothing leads from chip 0 to chip 1 any more");
  EXPECT_EQ(why_not(gpu_spec(16), {FailedPort{3, LinkKind::kNic}, FailedPort{3, LinkKind::kNvlink}}),
            "nothing leads from chip 0 to chip 3 any more");
}

}  // namespace
}  // namespace podsim::failures_test
