// What GPU clusters look like: NVLink domains, NICs, fat-tree tiers and their bandwidths.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/topology/fabrics.h"
#include "topology/fat_tree.h"
#include "topology/metrics.h"

namespace podsim::gpu_cluster_test {
namespace {

long count_nodes(const Fabric& fabric, NodeKind kind) {
  return std::ranges::count(fabric.nodes, kind, &Node::kind);
}

NodeId first_of(const Fabric& fabric, NodeKind kind) {
  return static_cast<NodeId>(std::ranges::find(fabric.nodes, kind, &Node::kind) - fabric.nodes.begin());
}

// Bandwidth of the links that lead up from a switch, in GB/s.
double uplink(const Fabric& fabric, NodeId node) {
  double sum = 0;
  for (const Link& link : fabric.out(node))
    if (fabric.nodes[link.to].tier > fabric.nodes[node].tier) sum += link.bandwidth.value / 1e9;
  return sum;
}

TEST(GpuCluster, every_gpu_has_one_nvlink_and_one_nic_cable) {
  const Fabric fabric = build_fabric(gpu_spec(1024));
  for (ChipId chip = 0; chip < 1024; ++chip) {
    const auto out = fabric.out(chip);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].kind, LinkKind::kNvlink);
    EXPECT_EQ(out[0].to, 1024 + chip / 8);
    EXPECT_EQ(out[0].bandwidth.value, 450e9 * 0.8);
    EXPECT_EQ(out[1].kind, LinkKind::kNic);
    EXPECT_EQ(out[1].bandwidth.value, 50e9);
  }
}

TEST(GpuCluster, rail_optimised_leaves_serve_one_gpu_of_each_domain_of_a_unit) {
  const Fabric fabric = build_fabric(gpu_spec(1024));
  const NodeId leaf = first_of(fabric, NodeKind::kLeaf);
  EXPECT_EQ(count_nodes(fabric, NodeKind::kLeaf), 1024 / 256 * 8);
  for (ChipId chip = 0; chip < 1024; ++chip)
    ASSERT_GE(fabric.link_between(chip, leaf + chip / 256 * 8 + chip % 8), 0) << chip;
}

TEST(GpuCluster, by_node_leaves_serve_whole_domains) {
  FabricSpec spec = gpu_spec(1024, false);
  spec.gpu->tiers[0].down = 20;  // two domains of 8 fit, four ports stay empty
  const Fabric fabric = build_fabric(spec);
  const NodeId leaf = first_of(fabric, NodeKind::kLeaf);
  EXPECT_EQ(count_nodes(fabric, NodeKind::kLeaf), 64);
  for (ChipId chip = 0; chip < 1024; ++chip)
    ASSERT_GE(fabric.link_between(chip, leaf + chip / 16), 0) << chip;
}

TEST(GpuCluster, only_the_tiers_that_are_needed_are_built) {
  const auto counts = [](int gpus, bool rails) {
    const Fabric fabric = build_fabric(gpu_spec(gpus, rails));
    return std::array{count_nodes(fabric, NodeKind::kNvSwitch), count_nodes(fabric, NodeKind::kLeaf),
                      count_nodes(fabric, NodeKind::kSpine), count_nodes(fabric, NodeKind::kCore)};
  };
  EXPECT_EQ(counts(4, true), (std::array{1L, 0L, 0L, 0L}));
  EXPECT_EQ(counts(8, true), (std::array{1L, 0L, 0L, 0L}));
  EXPECT_EQ(counts(16, true), (std::array{2L, 8L, 1L, 0L}));
  EXPECT_EQ(counts(32, false), (std::array{4L, 1L, 0L, 0L}));
  EXPECT_EQ(counts(2048, true), (std::array{256L, 64L, 1L, 0L}));
  EXPECT_EQ(counts(16384, true), (std::array{2048L, 512L, 8L, 1L}));
}

TEST(GpuCluster, without_nvlink_every_gpu_is_its_own_domain) {
  FabricSpec spec = gpu_spec(64);
  spec.gpu->gpus_per_domain = 1;
  const Fabric fabric = build_fabric(spec);
  EXPECT_EQ(count_nodes(fabric, NodeKind::kNvSwitch), 0);
  EXPECT_EQ(count_nodes(fabric, NodeKind::kLeaf), 2);
}

TEST(GpuCluster, one_to_one_trunks_carry_what_the_links_below_carry) {
  const Fabric fabric = build_fabric(gpu_spec(16384));
  EXPECT_EQ(uplink(fabric, first_of(fabric, NodeKind::kLeaf)), 32 * 50);
  EXPECT_EQ(uplink(fabric, first_of(fabric, NodeKind::kSpine)), 64 * 32 * 50);
  EXPECT_EQ(uplink(fabric, first_of(fabric, NodeKind::kCore)), 0);
}

TEST(GpuCluster, oversubscription_divides_the_trunks_of_its_tier_and_above) {
  FabricSpec spec = gpu_spec(16384);
  spec.gpu->tiers[0].oversubscription = 2;
  EXPECT_EQ(uplink(build_fabric(spec), first_of(build_fabric(spec), NodeKind::kLeaf)), 32 * 50 / 2.0);
  EXPECT_EQ(uplink(build_fabric(spec), first_of(build_fabric(spec), NodeKind::kSpine)), 64 * 32 * 50 / 2.0);
  spec.gpu->tiers[0].oversubscription = 1;
  spec.gpu->tiers[1].oversubscription = 7;
  EXPECT_EQ(uplink(build_fabric(spec), first_of(build_fabric(spec), NodeKind::kLeaf)), 32 * 50);
  EXPECT_DOUBLE_EQ(uplink(build_fabric(spec), first_of(build_fabric(spec), NodeKind::kSpine)),
                   64 * 32 * 50 / 7.0);
}

TEST(GpuCluster, a_tree_that_is_too_small_grows_by_tiers_like_its_last_one) {
  for (const double oversubscription : {1.0, 2.0}) {
    FabricSpec spec = gpu_spec(64);
    spec.gpu->tiers = {{.down = 2}, {.down = 8, .oversubscription = oversubscription}};
    EXPECT_EQ(fat_tree_capacity(*spec.gpu), 16);
    EXPECT_EQ(add_missing_tiers(*spec.gpu, 16), 0);
    EXPECT_EQ(add_missing_tiers(*spec.gpu, spec.chips), 1);
    const Fabric fabric = build_fabric(spec);
    EXPECT_EQ(count_nodes(fabric, NodeKind::kLeaf), 4 * 8);
    EXPECT_EQ(count_nodes(fabric, NodeKind::kSpine), 4);
    EXPECT_EQ(count_nodes(fabric, NodeKind::kCore), 1);
    EXPECT_EQ(std::ranges::count(fabric.links, LinkKind::kTrunk, &Link::kind), 2 * (32 + 4));
    EXPECT_EQ(uplink(fabric, first_of(fabric, NodeKind::kLeaf)), 2 * 50);
    EXPECT_EQ(uplink(fabric, first_of(fabric, NodeKind::kSpine)), 8 * 2 * 50 / oversubscription);
    EXPECT_EQ(measure(fabric).bisection.value, 32 * 50e9 / oversubscription);
    EXPECT_TRUE(measure(fabric).connected);
  }
}

TEST(GpuCluster, a_tree_that_cannot_grow_stays_as_it_is) {
  FabricSpec spec = gpu_spec(64);
  spec.gpu->tiers = {{.down = 2}, {.down = 1}};
  EXPECT_EQ(add_missing_tiers(*spec.gpu, 64), 0);
  spec.gpu->tiers.clear();
  EXPECT_EQ(add_missing_tiers(*spec.gpu, 64), 0);
}

TEST(GpuCluster, trunks_have_the_efficiency_and_latency_of_the_nic_cable) {
  FabricSpec spec = gpu_spec(512);
  spec.gpu->nic.efficiency = 0.5;
  const Fabric fabric = build_fabric(spec);
  const NodeId leaf = first_of(fabric, NodeKind::kLeaf);
  EXPECT_EQ(uplink(fabric, leaf), 32 * 25);
  EXPECT_EQ(fabric.out(leaf).back().latency, Time::seconds(2e-6));
}

}  // namespace
}  // namespace podsim::gpu_cluster_test
