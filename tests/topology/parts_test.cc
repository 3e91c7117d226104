// Parts of a fabric by kind, and the domains that they have in common.
#include "topology/parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/topology/fabrics.h"

namespace podsim::parts_test {
namespace {

TEST(Parts, of_a_gpu_cluster_are_chips_hosts_nics_and_switches) {
  const Fabric fabric = build_fabric(gpu_spec(64));
  const Parts parts(fabric, 4);
  EXPECT_EQ(parts.count(PartKind::kChip), 64);
  EXPECT_EQ(parts.count(PartKind::kHost), 16);
  EXPECT_EQ(parts.count(PartKind::kNic), 64);
  EXPECT_EQ(parts.count(PartKind::kNvSwitch), 8);
  EXPECT_EQ(parts.count(PartKind::kLeaf), 8) << "one for each rail";
  EXPECT_EQ(parts.count(PartKind::kIci), 0);
  EXPECT_EQ(parts.count(PartKind::kDcn), 0);
  EXPECT_EQ(parts.count(PartKind::kSpineUplink), 0) << "the last tier has none";
  EXPECT_EQ(parts.chips(PartKind::kHost, 15), (std::vector<ChipId>{60, 61, 62, 63}));
  EXPECT_TRUE(parts.has(Domain::kNvlinkDomain));
  EXPECT_FALSE(parts.has(Domain::kCube));
  EXPECT_EQ(parts.domain_of(Domain::kNvlinkDomain, PartKind::kHost, 3), 1);
  EXPECT_EQ(parts.domain_of(Domain::kLeaf, PartKind::kNic, 3),
            parts.domain_of(Domain::kLeaf, PartKind::kNic, 11))
      << "of the same rail";
  EXPECT_NE(parts.domain_of(Domain::kLeaf, PartKind::kNic, 3),
            parts.domain_of(Domain::kLeaf, PartKind::kNic, 4));
}

TEST(Parts, links_come_in_both_directions) {
  const Fabric fabric = build_fabric(gpu_spec(64));
  const Parts parts(fabric, 8);
  for (int k = 0; k < kPartKinds; ++k) {
    const auto kind = static_cast<PartKind>(k);
    for (int number = 0; number < parts.count(kind); ++number) {
      const std::vector<LinkId> links = parts.links(kind, number);
      EXPECT_EQ(links.empty(), computes(kind));
      for (const LinkId link : links) {
        const LinkId back = fabric.link_between(fabric.links[link].to, fabric.links[link].from);
        EXPECT_NE(std::find(links.begin(), links.end(), back), links.end()) << to_string(kind);
      }
    }
  }
  EXPECT_EQ(parts.links(PartKind::kNic, 5).size(), 2u);
  EXPECT_EQ(parts.links(PartKind::kLeafUplink, 0).size(), 2u);
  EXPECT_EQ(parts.links(PartKind::kLeaf, 0).size(), 18u) << "eight NICs and the way up";
}

TEST(Parts, of_a_torus_are_ici_links_and_cubes) {
  const Fabric fabric = build_fabric(ocs_spec({4, 4, 8}));
  const Parts parts(fabric, 4);
  EXPECT_EQ(parts.links(PartKind::kIci, 77).size(), 12u) << "six cables, electrical and optical";
  EXPECT_TRUE(parts.has(Domain::kCube));
  EXPECT_EQ(parts.domain_of(Domain::kCube, PartKind::kChip, 63), 0);
  EXPECT_EQ(parts.domain_of(Domain::kCube, PartKind::kChip, 64), 1);
}

TEST(Parts, hosts_count_slice_by_slice) {
  FabricSpec spec = multislice_spec({4, 4, 4}, 2);
  spec.chips_per_host = 24;  // two full hosts and one of 16 chips in each slice
  const Fabric fabric = build_fabric(spec);
  const Parts parts(fabric, spec.chips_per_host);
  EXPECT_EQ(parts.count(PartKind::kHost), 6);
  EXPECT_EQ(parts.count(PartKind::kDcn), 6);
  EXPECT_EQ(parts.chips(PartKind::kHost, 2).size(), 16u);
  EXPECT_EQ(parts.chips(PartKind::kHost, 3).front(), 64);
  const std::vector<LinkId> dcn = parts.links(PartKind::kDcn, 4);
  ASSERT_EQ(dcn.size(), 2u);
  for (const LinkId link : dcn) EXPECT_EQ(fabric.links[link].kind, LinkKind::kDcn);
  EXPECT_EQ(parts.domain_of(Domain::kSlice, PartKind::kHost, 4), 1);
}

TEST(Parts, hosts_are_known_before_the_network_is_built) {
  FabricSpec spec = multislice_spec({4, 4, 4}, 2);
  for (const int chips_per_host : {1, 4, 24, 64, 100}) {
    spec.chips_per_host = chips_per_host;
    const Fabric fabric = build_fabric(spec);
    const Parts parts(fabric, chips_per_host);
    ASSERT_EQ(host_count(spec), parts.count(PartKind::kHost)) << chips_per_host;
    for (int host = 0; host < host_count(spec); ++host) {
      const std::vector<ChipId> chips = chips_of_host(spec, host);
      EXPECT_EQ(chips, parts.chips(PartKind::kHost, host)) << chips_per_host << ", host " << host;
      for (const ChipId chip : chips) EXPECT_EQ(host_of(spec, chip), host);
    }
  }
}

}  // namespace
}  // namespace podsim::parts_test
