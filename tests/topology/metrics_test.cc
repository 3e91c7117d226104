// Diameter, mean hops and bisection against published tables, and the drawing.
#include "topology/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/topology/fabrics.h"
#include "topology/route.h"

namespace podsim::metrics_test {
namespace {

double bisection_links(const FabricSpec& spec) {
  return measure(build_fabric(spec)).bisection / kIciBandwidth;
}

// Mean hops and diameters of the twistable slices of ISCA 2023, "TPU v4", by breadth-first search.
TEST(Metrics, twisting_shortens_the_mean_path_and_the_diameter) {
  const auto expect = [](const FabricSpec& spec, double mean_hops, int diameter_hops) {
    const FabricMetrics metrics = measure(build_fabric(spec));
    EXPECT_NEAR(metrics.mean_hops, mean_hops, 0.0005);
    EXPECT_EQ(metrics.diameter_hops, diameter_hops);
    EXPECT_TRUE(metrics.connected);
  };
  expect(ocs_spec({4, 4, 8}), 4.031, 8);
  expect(ocs_spec({4, 4, 8}, true), 3.465, 6);
  expect(ocs_spec({4, 8, 8}), 5.020, 10);
  expect(ocs_spec({4, 8, 8}, true), 4.329, 6);
}

TEST(Metrics, distances_are_those_of_routes) {
  for (const auto& spec : {ocs_spec({4, 4, 8}, true), ocs_spec({4, 4, 2}), torus_spec({5, 3, 1}, 0),
                           multislice_spec({2, 2, 1}, 3), gpu_spec(64), gpu_spec(64, false)}) {
    const Fabric fabric = build_fabric(spec);
    double total = 0;
    int longest = 0;
    for (ChipId from = 0; from < fabric.chips; ++from)
      for (ChipId to = 0; to < fabric.chips; ++to) {
        double hops = 0;
        for (const RouteHop& hop : route(fabric, from, to)) hops += hop.share;
        total += hops;
        longest = std::max(longest, static_cast<int>(hops + 0.5));
      }
    const FabricMetrics metrics = measure(fabric);
    EXPECT_EQ(metrics.diameter_hops, longest);
    EXPECT_NEAR(metrics.mean_hops, total / fabric.chips / (fabric.chips - 1), 1e-9);
  }
}

// Cloud TPU documentation: 1.6 TB/s for a v5e pod = 32 links of 50 GB/s.
TEST(Metrics, bisection_of_a_torus_is_two_links_per_ring) {
  EXPECT_EQ(bisection_links(flat_spec(16, 16)), 32);
  EXPECT_EQ(bisection_links(ocs_spec({4, 4, 8})), 32);
  EXPECT_EQ(bisection_links(torus_spec({8, 1, 1}, 0)), 2);
}

TEST(Metrics, bisection_of_a_mesh_is_one_link_per_line) {
  EXPECT_EQ(bisection_links(flat_spec(8, 8)), 8);
  EXPECT_EQ(bisection_links(flat_spec(8, 16)), 16);
}

TEST(Metrics, bisection_cuts_the_longest_dimension_wherever_it_lies) {
  EXPECT_EQ(bisection_links(ocs_spec({8, 4, 4})), 32);
  EXPECT_EQ(bisection_links(ocs_spec({4, 8, 4})), 32);
}

TEST(Metrics, bisection_of_a_fat_tree_is_half_of_the_nics_over_the_oversubscription) {
  FabricSpec spec = gpu_spec(512);  // two scalable units
  EXPECT_EQ(measure(build_fabric(spec)).bisection.value, 256 * 50e9);
  spec.gpu->tiers[0].oversubscription = 2;
  EXPECT_EQ(measure(build_fabric(spec)).bisection.value, 256 * 50e9 / 2);
}

TEST(Metrics, bisection_between_slices_is_the_trunk_of_one) {
  FabricSpec spec = multislice_spec({4, 4, 4}, 2);
  spec.dcn_oversubscription = 2;
  EXPECT_EQ(measure(build_fabric(spec)).bisection.value, 16 * 25e9 / 2);
}

TEST(Metrics, slow_link_in_the_middle_reduces_the_bisection) {
  const SlowLink fault = {.chip = 3, .kind = LinkKind::kIci, .factor = 0.5};
  const Fabric ring = with_slow_links(build_fabric(torus_spec({8, 1, 1}, 0)), {&fault, 1});
  EXPECT_EQ(measure(ring).bisection / kIciBandwidth, 1.5);
}

TEST(Metrics, chips_of_an_nvlink_mesh_without_a_network_are_one_hop_apart) {
  for (const int chips : {2, 4, 8}) {
    FabricSpec spec = gpu_spec(chips);
    spec.gpu->nvlink_mesh = true;
    const Fabric fabric = build_fabric(spec);
    ASSERT_EQ(fabric.nodes.size(), static_cast<std::size_t>(chips));
    const FabricMetrics metrics = measure(fabric);
    EXPECT_TRUE(metrics.connected);
    EXPECT_EQ(metrics.diameter_hops, 1);
    EXPECT_EQ(metrics.mean_hops, 1);
  }
}

TEST(Metrics, one_chip_is_connected_and_has_no_hops) {
  const FabricMetrics metrics = measure(build_fabric(torus_spec({1, 1, 1}, 0)));
  EXPECT_TRUE(metrics.connected);
  EXPECT_EQ(metrics.mean_hops, 0);
}

TEST(Metrics, cut_fabric_is_not_connected) {
  Fabric fabric = build_fabric(torus_spec({3, 1, 1}, 0));
  fabric.links.stored().clear();
  std::ranges::fill(fabric.out_first.stored(), 0);
  EXPECT_FALSE(measure(fabric).connected);
  EXPECT_EQ(measure(fabric).bisection.value, 0);
}

TEST(Draw, has_every_node_and_every_cable_once) {
  for (const auto& spec : {gpu_spec(64), ocs_spec({4, 4, 4}), multislice_spec({4, 4, 4}, 2)}) {
    const Fabric fabric = build_fabric(spec);
    const std::string text = draw(fabric);
    std::size_t cables = 0, nodes = 0;
    for (std::size_t at = text.find(" -- "); at != std::string::npos; at = text.find(" -- ", at + 1))
      ++cables;
    for (std::size_t at = text.find("[label="); at != std::string::npos; at = text.find("[label=", at + 1))
      ++nodes;
    EXPECT_EQ(cables, fabric.links.size() / 2);
    EXPECT_EQ(nodes, fabric.nodes.size());
  }
}

TEST(Draw, quotes_the_name) {
  FabricSpec spec = torus_spec({2, 1, 1}, 0);
  spec.name = "a \"b\"";
  EXPECT_EQ(draw(build_fabric(spec)).substr(0, 18), "graph \"a \\\"b\\\"\" {\n");
}

}  // namespace
}  // namespace podsim::metrics_test
