// What slices over a data-centre network look like.
#include <gtest/gtest.h>

#include "tests/topology/fabrics.h"

namespace podsim::multislice_test {
namespace {

TEST(Multislice, four_chips_share_a_host_and_its_nics) {
  const Fabric fabric = build_fabric(multislice_spec({4, 4, 4}, 2));
  ASSERT_EQ(fabric.nodes.size(), 128u + 32 + 2 + 1);
  for (ChipId chip = 0; chip < 128; ++chip) {
    const Link& up = fabric.out(chip).back();
    EXPECT_EQ(up.kind, LinkKind::kPcie);
    EXPECT_EQ(up.to, 128 + chip / 4);
    EXPECT_EQ(up.bandwidth.value, 25e9);
    EXPECT_EQ(up.latency, Time{});
  }
}

TEST(Multislice, a_host_never_serves_two_slices) {
  FabricSpec spec = multislice_spec({4, 4, 4}, 2);
  spec.chips_per_host = 24;  // two full hosts and one of 16 chips per slice
  const Fabric fabric = build_fabric(spec);
  EXPECT_EQ(fabric.nodes.size(), 128u + 6 + 2 + 1);
  EXPECT_EQ(fabric.out(63).back().to, 128 + 2);
  EXPECT_EQ(fabric.out(64).back().to, 128 + 3);
}

TEST(Multislice, trunk_of_a_slice_is_that_of_its_hosts_over_the_oversubscription) {
  FabricSpec spec = multislice_spec({4, 4, 4}, 2);
  spec.dcn_oversubscription = 4;
  spec.dcn.efficiency = 0.8;
  const Fabric fabric = build_fabric(spec);
  const NodeId slice_switch = 128 + 32, core = 128 + 32 + 2;
  EXPECT_DOUBLE_EQ(fabric.links[fabric.link_between(slice_switch, core)].bandwidth.value,
                   16 * 25e9 * 0.8 / 4);
  EXPECT_DOUBLE_EQ(fabric.links[fabric.link_between(core, slice_switch)].bandwidth.value,
                   16 * 25e9 * 0.8 / 4);
}

TEST(Multislice, one_slice_has_no_hosts_and_no_dcn) {
  EXPECT_EQ(build_fabric(multislice_spec({4, 4, 4}, 1)).nodes.size(), 64u);
}

TEST(Multislice, slices_are_wired_alike_and_apart) {
  const Fabric fabric = build_fabric(multislice_spec({4, 4, 8}, 3));
  for (const Link& link : fabric.links) {
    if (link.kind != LinkKind::kIci && link.kind != LinkKind::kIciOptical) continue;
    ASSERT_EQ(fabric.slice_of(link.from), fabric.slice_of(link.to));
    ASSERT_GE(fabric.link_between(link.from % 128, link.to % 128), 0);
  }
}

}  // namespace
}  // namespace podsim::multislice_test
