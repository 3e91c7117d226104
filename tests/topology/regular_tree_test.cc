// Fabrics that are told by arithmetic against those that are listed.
#include "topology/regular_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/topology/fabrics.h"
#include "topology/fabric.h"
#include "topology/fabric_kind.h"
#include "topology/route.h"

namespace podsim {
namespace {

FabricSpec random_cluster(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  FabricSpec spec = gpu_spec(8, below(2) == 0);
  GpuClusterSpec& gpu = *spec.gpu;
  gpu.gpus_per_domain = 1 << below(4);
  gpu.tiers.clear();
  for (int tier = 0; tier < 4; ++tier)
    gpu.tiers.push_back({.down = 2 + below(6), .oversubscription = 1.0 + below(3) * 0.5});
  gpu.tiers[0].down = gpu.gpus_per_domain * (1 + below(4));
  spec.chips = gpu.gpus_per_domain * (2 + below(300));
  return spec;
}

TEST(RegularTree, tells_what_a_built_fabric_lists) {
  std::mt19937 random(1);
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    const FabricSpec spec = random_cluster(random);
    if (!explain_invalid(spec).empty()) continue;
    const Fabric listed = build_fabric(spec), told = build_fabric_by_rule(spec);
    ASSERT_NE(told.tree(), nullptr);
    ASSERT_EQ(listed.tree(), nullptr);
    ASSERT_TRUE(told == listed) << spec.chips << " chips in round " << round;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(RegularTree, numbers_the_links_above_each_chip) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const FabricSpec spec = random_cluster(random);
    if (!explain_invalid(spec).empty()) continue;
    const Fabric fabric = build_fabric(spec);
    const RegularTree tree = *RegularTree::of(spec);
    for (ChipId chip = 0; chip < fabric.chips; ++chip) {
      if (tree.domain() > 1) {
        const NodeId nvswitch = fabric.chips + chip / tree.domain();
        ASSERT_EQ(tree.nvlink_up(chip), fabric.link_between(chip, nvswitch));
        ASSERT_EQ(tree.nvlink_down(chip), fabric.link_between(nvswitch, chip));
      }
      ASSERT_EQ(tree.nic_up(chip), fabric.link_between(chip, tree.above(0, chip)));
      ASSERT_EQ(tree.nic_down(chip), fabric.link_between(tree.above(0, chip), chip));
      for (std::size_t t = 0; t + 1 < tree.tiers(); ++t) {
        const NodeId below = tree.above(t, chip), above = tree.above(t + 1, chip);
        ASSERT_TRUE(tree.tier(t).leads_up);
        ASSERT_EQ(tree.trunk_up(t, below), fabric.link_between(below, above));
        ASSERT_EQ(tree.trunk_down(t, below), fabric.link_between(above, below));
      }
    }
  }
}

TEST(RegularTree, link_between_nodes_is_the_same_told_listed_and_listed_in_part) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const FabricSpec spec = random_cluster(random);
    if (!explain_invalid(spec).empty()) continue;
    const Fabric listed = build_fabric(spec), told = build_fabric_by_rule(spec);
    Fabric links_listed = told;
    links_listed.links.stored();
    Fabric ends_listed = told;
    ends_listed.out_first.stored();
    const auto agree = [&](NodeId from, NodeId to) {
      const LinkId link = listed.link_between(from, to);
      return told.link_between(from, to) == link && links_listed.link_between(from, to) == link &&
             ends_listed.link_between(from, to) == link;
    };
    for (const Link& link : listed.links) ASSERT_TRUE(agree(link.from, link.to));
    const auto any_node = [&] { return static_cast<NodeId>(random() % listed.nodes.size()); };
    for (int pair = 0; pair < 100; ++pair) ASSERT_TRUE(agree(any_node(), any_node()));
  }
}

TEST(RegularTree, tells_the_cable_and_the_place_of_each_link) {
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    const FabricSpec spec = random_cluster(random);
    if (!explain_invalid(spec).empty()) continue;
    const Fabric listed = build_fabric(spec), told = build_fabric_by_rule(spec);
    for (LinkId id = 0; id < static_cast<LinkId>(listed.links.size()); ++id) {
      const Link link = listed.links[id], cable = told.cable(id);
      ASSERT_EQ(cable.kind, link.kind);
      ASSERT_EQ(cable.bandwidth, link.bandwidth);
      ASSERT_EQ(cable.latency, link.latency);
      const TreeLink place = told.tree()->place(id);
      ASSERT_EQ(place.below, std::min(link.from, link.to));
      ASSERT_EQ(place.down, link.from > link.to);
      ASSERT_EQ(place.nvlink, link.kind == LinkKind::kNvlink);
    }
  }
}

TEST(RegularTree, routes_over_the_links_of_the_listed_fabric) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    const FabricSpec spec = random_cluster(random);
    if (!explain_invalid(spec).empty()) continue;
    const Fabric listed = build_fabric(spec);
    const RegularTree tree = *RegularTree::of(spec);
    const auto any_chip = [&] { return static_cast<ChipId>(random() % static_cast<unsigned>(spec.chips)); };
    for (int pair = 0; pair < 100; ++pair) {
      const ChipId from = any_chip(), to = any_chip();
      std::vector<LinkId> told, expected;
      const Time latency = tree.route(from, to, [&](LinkId link) { told.push_back(link); });
      const std::vector<RouteHop> hops = route(listed, from, to);
      for (const RouteHop& hop : hops) expected.push_back(hop.link);
      std::ranges::sort(told);
      std::ranges::sort(expected);
      ASSERT_EQ(told, expected) << from << " to " << to;
      ASSERT_EQ(latency, route_latency(listed, hops));
    }
  }
}

TEST(RegularTree, list_is_there_only_where_it_is_stored) {
  Fabric fabric = build_fabric_by_rule(gpu_spec(64));
  EXPECT_EQ(fabric.links.list(), nullptr);
  const std::vector<Link>& stored = fabric.links.stored();
  EXPECT_EQ(fabric.links.list(), &stored);
}

TEST(RegularTree, is_of_no_other_network) {
  FabricSpec picking = gpu_spec(512);
  picking.routing = Routing::kEcmp;
  FabricSpec mesh = gpu_spec(512);
  mesh.gpu->nvlink_mesh = true;
  for (const FabricSpec& spec : {picking, mesh, gpu_spec(8), gpu_spec(508), ocs_spec({4, 4, 4})})
    EXPECT_FALSE(RegularTree::of(spec));
}

TEST(RegularTree, is_listed_where_a_link_is_changed) {
  Fabric fabric = build_fabric_by_rule(gpu_spec(64));
  const Fabric listed = build_fabric(gpu_spec(64));
  fabric.links[3].bandwidth = {1e9};
  EXPECT_EQ(fabric.tree(), nullptr);
  EXPECT_FALSE(fabric == listed);
  fabric.links[3] = listed.links[3];
  EXPECT_TRUE(fabric == listed);
}

TEST(RegularTree, of_more_than_a_million_chips_is_not_listed) {
  FabricSpec spec = gpu_spec(1 << 24);
  spec.gpu->tiers = {{.down = 256}, {.down = 256}, {.down = 256}, {.down = 256}};
  ASSERT_EQ(explain_invalid(spec), "");
  const Fabric fabric = build_fabric_by_rule(spec);
  ASSERT_NE(fabric.tree(), nullptr);
  EXPECT_EQ(fabric.nodes[(1 << 24) - 1].kind, NodeKind::kChip);
  EXPECT_THROW(listed(fabric), TooManyChips);
  Fabric changed = fabric;
  EXPECT_THROW(changed.links[0], TooManyChips);
  EXPECT_THROW(build_fabric(spec), TooManyChips);
}

}  // namespace
}  // namespace podsim
