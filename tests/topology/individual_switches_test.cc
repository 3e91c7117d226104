// Fat-trees whose parallel switches are nodes: counts, hashed and static routes, equality with bundled
// trunks.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/rounds.h"
#include "tests/topology/fabrics.h"
#include "tests/topology/routes.h"

namespace podsim::individual_switches_test {
namespace {

// 512 GPUs: leaves of 8 rails x 4 units of 16 domains; pods of 16 leaves; two pods below the cores.
FabricSpec tree_spec(Routing routing, double oversubscription = 1) {
  FabricSpec spec = gpu_spec(512);
  spec.gpu->tiers = {{.down = 16, .oversubscription = oversubscription}, {.down = 16}, {.down = 4}};
  spec.routing = routing;
  return spec;
}

long count(const Fabric& fabric, NodeKind kind) {
  return std::ranges::count(fabric.nodes, kind, &Node::kind);
}

NodeId first_of(const Fabric& fabric, NodeKind kind) {
  return static_cast<NodeId>(std::ranges::find(fabric.nodes, kind, &Node::kind) - fabric.nodes.begin());
}

// The switch of a bundled tree that stands for this one.
NodeId bundled(const Fabric& individual, const Fabric& bundles, NodeId node) {
  const NodeKind kind = individual.nodes[node].kind;
  const NodeId first = first_of(individual, kind);
  const long parallel = count(individual, kind) / count(bundles, kind);
  return first_of(bundles, kind) + static_cast<NodeId>((node - first) / parallel);
}

TEST(IndividualSwitches, uplink_i_of_every_lower_switch_leads_to_parallel_switch_i) {
  const Fabric fabric = build_fabric(tree_spec(Routing::kEcmp));
  EXPECT_EQ(count(fabric, NodeKind::kLeaf), 32);
  EXPECT_EQ(count(fabric, NodeKind::kSpine), 2 * 16);
  EXPECT_EQ(count(fabric, NodeKind::kCore), 16 * 16);
  const NodeId leaf = first_of(fabric, NodeKind::kLeaf), spine = first_of(fabric, NodeKind::kSpine),
               core = first_of(fabric, NodeKind::kCore);
  for (int l = 0; l < 32; ++l)
    for (int s = 0; s < 32; ++s)
      ASSERT_EQ(fabric.link_between(leaf + l, spine + s) >= 0, l / 16 == s / 16) << l << " " << s;
  for (int s = 0; s < 32; ++s)
    for (int c = 0; c < 256; ++c)
      ASSERT_EQ(fabric.link_between(spine + s, core + c) >= 0, s % 16 == c / 16) << s << " " << c;
}

TEST(IndividualSwitches, have_the_bandwidth_of_the_bundles) {
  for (const double ratio : {1.0, 2.0, 4.0}) {
    const Fabric individual = build_fabric(tree_spec(Routing::kStatic, ratio)),
                 bundles = build_fabric(tree_spec(Routing::kAdaptive, ratio));
    std::map<std::pair<NodeId, NodeId>, double> sum;
    for (const Link& link : individual.links)
      sum[{bundled(individual, bundles, link.from), bundled(individual, bundles, link.to)}] +=
          link.bandwidth.value;
    for (const Link& link : bundles.links) {
      if (link.kind != LinkKind::kTrunk) continue;
      ASSERT_DOUBLE_EQ((sum[{link.from, link.to}]), link.bandwidth.value);
    }
  }
}

TEST(IndividualSwitches, spraying_over_them_loads_the_bundles_as_before) {
  for (const double ratio : {1.0, 2.0}) {
    Fabric individual = build_fabric(tree_spec(Routing::kEcmp, ratio));
    individual.routing = Routing::kAdaptive;
    const Fabric bundles = build_fabric(tree_spec(Routing::kAdaptive, ratio));
    std::mt19937_64 random(5);
    for (int pair = 0; pair < testing::rounds(500); ++pair) {
      const ChipId from = static_cast<ChipId>(random() % 512), to = static_cast<ChipId>(random() % 512);
      ASSERT_NO_FATAL_FAILURE(expect_unit_flow(individual, from, to));
      std::map<std::pair<NodeId, NodeId>, double> shares;
      for (const RouteHop& hop : route(individual, from, to)) {
        const Link& link = individual.links[hop.link];
        shares[{bundled(individual, bundles, link.from), bundled(individual, bundles, link.to)}] += hop.share;
      }
      const auto expected = route(bundles, from, to);
      ASSERT_EQ(shares.size(), expected.size());
      for (const RouteHop& hop : expected)
        ASSERT_EQ((shares[{bundles.links[hop.link].from, bundles.links[hop.link].to}]), hop.share);
    }
  }
}

TEST(IndividualSwitches, a_transfer_takes_one_of_them_on_every_tier) {
  std::mt19937_64 random(9);
  for (const Routing routing : {Routing::kEcmp, Routing::kStatic}) {
    const Fabric fabric = build_fabric(tree_spec(routing)),
                 bundles = build_fabric(tree_spec(Routing::kAdaptive));
    for (int pair = 0; pair < 500; ++pair) {
      const ChipId from = static_cast<ChipId>(random() % 512), to = static_cast<ChipId>(random() % 512);
      ASSERT_NO_FATAL_FAILURE(expect_unit_flow(fabric, from, to));
      ASSERT_EQ(route(fabric, from, to).size(), route(bundles, from, to).size());
    }
  }
}

TEST(IndividualSwitches, static_routes_to_a_rail_of_another_pod_share_no_core) {
  const Fabric fabric = build_fabric(tree_spec(Routing::kStatic));
  std::set<NodeId> cores;
  for (ChipId to = 256; to < 512; ++to)
    for (const RouteHop& hop : route(fabric, 0, to))
      if (fabric.nodes[fabric.links[hop.link].to].kind == NodeKind::kCore)
        cores.insert(fabric.links[hop.link].to);
  EXPECT_EQ(cores.size(), 256u);
}

// Chips of one rail are a domain apart: counted by their own numbers they would share an eighth of the
// spines.
TEST(IndividualSwitches, static_routes_spread_over_all_spines_below_rails_too) {
  FabricSpec spec = gpu_spec(512);
  spec.routing = Routing::kStatic;
  const Fabric fabric = build_fabric(spec);
  std::map<LinkId, int> transfers;  // on each trunk, when every chip sends to every other
  for (ChipId from = 0; from < 512; ++from)
    for (ChipId to = 0; to < 512; ++to)
      for (const RouteHop& hop : route(fabric, from, to))
        if (fabric.links[hop.link].kind == LinkKind::kTrunk) ++transfers[hop.link];
  int least = 1 << 30, most = 0;
  for (const auto& [link, count] : transfers) {
    least = std::min(least, count);
    most = std::max(most, count);
  }
  EXPECT_EQ(transfers.size(), 2u * 16 * 32);
  EXPECT_LT(most, 1.1 * least);
}

TEST(IndividualSwitches, hashed_transfers_reach_all_spines_unevenly) {
  const Fabric fabric = build_fabric(tree_spec(Routing::kEcmp));
  std::map<NodeId, int> uses;
  for (ChipId from = 0; from < 128; ++from)
    for (const RouteHop& hop : route(fabric, from, (from + 129) % 256))
      if (fabric.nodes[fabric.links[hop.link].to].kind == NodeKind::kSpine) ++uses[fabric.links[hop.link].to];
  EXPECT_GT(uses.size(), 12u);
  int most = 0;
  for (const auto& [spine, count] : uses) most = std::max(most, count);
  EXPECT_GT(most, 128 / 16);
}

TEST(IndividualSwitches, need_whole_uplinks_and_not_too_many_cables) {
  EXPECT_EQ(
      explain_invalid(tree_spec(Routing::kEcmp, 3)),
      "a switch of tier 0 with 16 links below and an oversubscription of 3 has 5.33333 uplinks; routing "
      "that picks one of them needs a whole number: 5 at an oversubscription of 3.2");
  EXPECT_EQ(explain_invalid(tree_spec(Routing::kAdaptive, 3)), "");
  FabricSpec wide = gpu_spec(100'000);
  wide.gpu->tiers = {{.down = 32}, {.down = 1'000'000}, {.down = 2}};
  wide.routing = Routing::kStatic;
  EXPECT_EQ(explain_invalid(wide), "");
  wide.gpu->tiers[0] = {.down = 1'000'000};
  EXPECT_NE(explain_invalid(wide).find("use adaptive routing"), std::string::npos);
}

TEST(IndividualSwitches, dimension_order_is_for_tori) {
  EXPECT_EQ(explain_invalid(tree_spec(Routing::kDimensionOrder)),
            "a GPU cluster has no dimensions to route in order of: its routing is adaptive, ecmp or static");
}

}  // namespace
}  // namespace podsim::individual_switches_test
