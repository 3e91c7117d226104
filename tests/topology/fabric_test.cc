// Invariants of every fabric: ordering, reverse links, names, slow links, determinism.
#include "topology/fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/topology/fabrics.h"

namespace podsim::fabric_test {
namespace {

std::vector<FabricSpec> all_sorts() {
  return {
      ocs_spec({4, 4, 8}, true), ocs_spec({2, 4, 1}),           flat_spec(8, 16), torus_spec({5, 1, 1}, 0),
      torus_spec({1, 1, 1}, 0),  multislice_spec({4, 4, 4}, 3), gpu_spec(8),      gpu_spec(1024),
      gpu_spec(1024, false)};
}

auto key(const Link& link) {
  return std::tuple(link.from, link.to, link.kind, link.bandwidth.value, link.latency.ps);
}

TEST(Fabric, links_are_sorted_and_indexed_by_their_source) {
  for (const FabricSpec& spec : all_sorts()) {
    const Fabric fabric = build_fabric(spec);
    ASSERT_EQ(fabric.out_first.size(), fabric.nodes.size() + 1);
    ASSERT_EQ(fabric.out_first.back(), static_cast<LinkId>(fabric.links.size()));
    for (NodeId node = 0; node < static_cast<NodeId>(fabric.nodes.size()); ++node) {
      const auto out = fabric.out(node);
      EXPECT_TRUE(std::ranges::all_of(out, [node](const Link& link) { return link.from == node; }));
      // Strictly increasing: no two links from one node to another.
      EXPECT_EQ(std::ranges::adjacent_find(out, [](const Link& a, const Link& b) { return a.to >= b.to; }),
                out.end());
    }
  }
}

TEST(Fabric, every_link_has_an_equal_one_back) {
  for (const FabricSpec& spec : all_sorts()) {
    const Fabric fabric = build_fabric(spec);
    for (const Link& link : fabric.links) {
      const LinkId back = fabric.link_between(link.to, link.from);
      ASSERT_GE(back, 0);
      EXPECT_EQ(fabric.links[back].bandwidth, link.bandwidth);
      EXPECT_EQ(fabric.links[back].kind, link.kind);
      EXPECT_EQ(fabric.links[back].latency, link.latency);
    }
  }
}

TEST(Fabric, nodes_are_sorted_by_kind_and_the_last_link_of_a_served_node_leads_up) {
  for (const FabricSpec& spec : all_sorts()) {
    const Fabric fabric = build_fabric(spec);
    EXPECT_TRUE(std::ranges::is_sorted(fabric.nodes, {}, &Node::kind));
    for (NodeId node = 0; node < static_cast<NodeId>(fabric.nodes.size()); ++node) {
      int highest = fabric.nodes[node].tier;
      for (const Link& link : fabric.out(node)) highest = std::max<int>(highest, fabric.nodes[link.to].tier);
      if (highest == fabric.nodes[node].tier) continue;
      EXPECT_EQ(fabric.nodes[fabric.out(node).back().to].tier, highest);
    }
  }
}

TEST(Fabric, the_same_specification_gives_the_same_fabric) {
  for (const FabricSpec& spec : all_sorts()) {
    const Fabric a = build_fabric(spec), b = build_fabric(spec);
    EXPECT_TRUE(std::ranges::equal(a.links, b.links, {}, key, key));
    EXPECT_EQ(a.out_first, b.out_first);
  }
}

TEST(Fabric, unconnected_chips_have_no_link_between) {
  const Fabric fabric = build_fabric(gpu_spec(64));
  EXPECT_EQ(fabric.link_between(0, 1), -1);
  EXPECT_EQ(fabric.link_between(0, static_cast<NodeId>(fabric.nodes.size()) - 1), -1);
  EXPECT_EQ(fabric.slice_of(0), nullptr);
}

TEST(Fabric, nodes_are_numbered_within_their_kind) {
  const Fabric gpus = build_fabric(gpu_spec(64));
  EXPECT_EQ(node_name(gpus, 63), "chip 63");
  EXPECT_EQ(node_name(gpus, 64), "nvswitch 0");
  EXPECT_EQ(node_name(gpus, 64 + 8 + 5), "leaf 5");
  EXPECT_EQ(node_name(gpus, 64 + 8 + 8), "spine 0");
}

TEST(SlowLinks, slow_nic_slows_both_directions_of_that_nic_and_nothing_else) {
  const Fabric healthy = build_fabric(gpu_spec(64));
  const SlowLink fault = {.chip = 9, .kind = LinkKind::kNic, .factor = 0.5};
  const Fabric slow = with_slow_links(healthy, {&fault, 1});
  int changed = 0;
  for (std::size_t link = 0; link < healthy.links.size(); ++link) {
    const Link& now = slow.links[link];
    const bool hit = now.kind == LinkKind::kNic && (now.from == 9 || now.to == 9);
    EXPECT_EQ(now.bandwidth.value, healthy.links[link].bandwidth.value * (hit ? 0.5 : 1));
    changed += hit;
  }
  EXPECT_EQ(changed, 2);
}

TEST(SlowLinks, slow_ici_includes_the_optical_links_of_the_chip) {
  const Fabric healthy = build_fabric(ocs_spec({4, 4, 4}));
  const auto slowed = [&](LinkKind kind) {
    const SlowLink fault = {.chip = 0, .kind = kind, .factor = 0.25};
    return std::ranges::count(with_slow_links(healthy, {&fault, 1}).links, 50e9 * 0.25,
                              [](const Link& link) { return link.bandwidth.value; });
  };
  EXPECT_EQ(slowed(LinkKind::kIci), 12);
  EXPECT_EQ(slowed(LinkKind::kIciOptical), 6);  // the corner of a cube: three of its six cables leave it
}

TEST(SlowLinks, two_faults_at_one_link_multiply) {
  const std::array<SlowLink, 2> faults = {SlowLink{0, LinkKind::kIci, 0.5}, SlowLink{1, LinkKind::kIci, 0.5}};
  const Fabric fabric = with_slow_links(build_fabric(torus_spec({5, 1, 1}, 0)), faults);
  EXPECT_EQ(fabric.links[fabric.link_between(0, 1)].bandwidth.value, 50e9 / 4);
  EXPECT_EQ(fabric.links[fabric.link_between(4, 0)].bandwidth.value, 50e9 / 2);
  EXPECT_EQ(fabric.links[fabric.link_between(2, 3)].bandwidth.value, 50e9);
}

TEST(Names, of_kinds_are_distinct) {
  EXPECT_EQ(to_string(LinkKind::kIciOptical), "ici_optical");
  EXPECT_EQ(to_string(NodeKind::kNvSwitch), "nvswitch");
}

}  // namespace
}  // namespace podsim::fabric_test
