// What torus slices look like: link counts, wraps, optical links, twists.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/topology/fabrics.h"
#include "topology/fabric_kind.h"
#include "topology/part_counts.h"

namespace podsim::torus_test {
namespace {

long count_links(const Fabric& fabric, LinkKind kind) {
  return std::ranges::count(fabric.links, kind, &Link::kind);
}

TEST(Torus, whole_pod_has_six_links_out_of_every_chip) {
  const Fabric fabric = build_fabric(ocs_spec({16, 16, 16}));
  EXPECT_EQ(fabric.links.size(), 3u * 4096 * 2);
  for (ChipId chip = 0; chip < fabric.chips; ++chip) ASSERT_EQ(fabric.out(chip).size(), 6u);
}

TEST(Torus, a_cube_has_144_copper_cables_and_48_optical_wraps) {
  const Fabric fabric = build_fabric(ocs_spec({4, 4, 4}));
  EXPECT_EQ(count_links(fabric, LinkKind::kIci), 2 * 144);
  EXPECT_EQ(count_links(fabric, LinkKind::kIciOptical), 2 * 48);
}

TEST(Torus, every_cube_of_a_slice_owns_48_optical_cables) {
  for (bool twisted : {false, true}) {
    const Fabric fabric = build_fabric(ocs_spec({4, 8, 8}, twisted));
    EXPECT_EQ(count_links(fabric, LinkKind::kIciOptical), 4 * 48 * 2);
    EXPECT_EQ(count_links(fabric, LinkKind::kIci), 4 * 144 * 2);
  }
}

TEST(Torus, slice_smaller_than_a_cube_has_neither_wraps_nor_optical_links) {
  const Fabric fabric = build_fabric(ocs_spec({2, 2, 1}));
  EXPECT_EQ(fabric.links.size(), 4u * 2);
  EXPECT_EQ(count_links(fabric, LinkKind::kIciOptical), 0);
  EXPECT_EQ(build_fabric(ocs_spec({4, 4, 2})).links.size(), 2u * (2 * 12 + 2 * 12 + 16));
}

TEST(Torus, without_ocs_only_the_full_side_of_the_pod_wraps) {
  const auto wraps = [](int x, int y) { return build_fabric(flat_spec(x, y)).slices[0].wrap; };
  EXPECT_EQ(wraps(8, 16), (std::array{false, true, false}));
  EXPECT_EQ(wraps(8, 8), (std::array{false, false, false}));
  EXPECT_EQ(wraps(16, 16), (std::array{true, true, false}));
}

TEST(Torus, two_chips_are_joined_by_one_cable_even_where_all_lengths_wrap) {
  const Fabric fabric = build_fabric(torus_spec({2, 1, 1}, 0));
  EXPECT_EQ(fabric.links.size(), 2u);
  EXPECT_FALSE(fabric.slices[0].wrap[0]);
  EXPECT_EQ(build_fabric(torus_spec({3, 1, 1}, 0)).links.size(), 6u);
}

TEST(Torus, coordinate_and_chip_are_inverse) {
  const Fabric fabric = build_fabric(multislice_spec({4, 8, 12}, 2));
  for (ChipId chip = 0; chip < fabric.chips; ++chip) {
    const TorusSlice* slice = fabric.slice_of(chip);
    ASSERT_EQ(slice, &fabric.slices[chip / 384]);
    ASSERT_EQ(slice->chip(slice->coordinate(chip)), chip);
  }
  EXPECT_EQ(fabric.slices[0].chip({1, 2, 3}), 1 + 4 * (2 + 8 * 3));
}

TEST(Torus, going_back_undoes_a_step) {
  for (const auto& spec :
       {ocs_spec({4, 4, 8}, true), ocs_spec({4, 8, 8}, true), ocs_spec({4, 8, 12}), flat_spec(8, 16)}) {
    const Fabric fabric = build_fabric(spec);
    const TorusSlice& slice = fabric.slices[0];
    for (ChipId chip = 0; chip < fabric.chips; ++chip)
      for (int d = 0; d < 3; ++d) {
        const ChipId next = slice.neighbour(chip, d, +1);
        if (next < 0) continue;
        ASSERT_EQ(slice.neighbour(next, d, -1), chip);
        ASSERT_GE(fabric.link_between(chip, next), 0);
        ASSERT_GE(fabric.link_between(next, chip), 0);
      }
  }
}

TEST(Torus, twist_of_n_n_2n_shifts_z_at_the_wraps_of_x_and_y) {
  const TorusSlice slice = build_fabric(ocs_spec({4, 4, 8}, true)).slices[0];
  EXPECT_EQ(slice.neighbour(slice.chip({3, 1, 2}), 0, +1), slice.chip({0, 1, 6}));
  EXPECT_EQ(slice.neighbour(slice.chip({0, 1, 2}), 0, -1), slice.chip({3, 1, 6}));
  EXPECT_EQ(slice.neighbour(slice.chip({1, 3, 5}), 1, +1), slice.chip({1, 0, 1}));
  EXPECT_EQ(slice.neighbour(slice.chip({1, 2, 7}), 2, +1), slice.chip({1, 2, 0}));
}

TEST(Torus, twist_of_n_2n_2n_shifts_y_and_z_at_the_wrap_of_x) {
  const TorusSlice slice = build_fabric(ocs_spec({4, 8, 8}, true)).slices[0];
  EXPECT_EQ(slice.neighbour(slice.chip({3, 1, 2}), 0, +1), slice.chip({0, 5, 6}));
  EXPECT_EQ(slice.neighbour(slice.chip({1, 7, 5}), 1, +1), slice.chip({1, 0, 5}));
}

// Where a dimension has two chips, the wrap is a cable of its own, since the twist leads it elsewhere.
TEST(Torus, twist_of_cubes_of_two_joins_each_chip_to_six_others) {
  for (const auto& shape : {std::array{2, 2, 4}, std::array{2, 4, 4}}) {
    FabricSpec spec = ocs_spec(shape, true);
    spec.torus->cube = 2;
    const Fabric fabric = build_fabric(spec);
    const TorusSlice& slice = fabric.slices[0];
    EXPECT_EQ(fabric.links.size(), 6u * static_cast<std::size_t>(fabric.chips));
    for (ChipId chip = 0; chip < fabric.chips; ++chip)
      for (const int direction : {-1, +1})
        EXPECT_GE(fabric.link_between(chip, slice.neighbour(chip, 0, direction)), 0);
    EXPECT_NE(slice.neighbour(0, 0, -1), slice.neighbour(0, 0, +1));
  }
}

TEST(Torus, a_cube_has_as_many_dimensions_as_its_torus) {
  for (const int dimensions : {1, 2, 3}) {
    FabricSpec spec = ocs_spec({8, dimensions > 1 ? 8 : 1, dimensions > 2 ? 8 : 1});
    spec.torus->dimensions = dimensions;
    spec.chips_per_host = 4;
    const int chips = dimensions == 1 ? 4 : dimensions == 2 ? 16 : 64;
    EXPECT_EQ(spec.torus->chips_per_cube(), chips);
    EXPECT_EQ(kind_of(spec).failure_domains(spec).front().chips, chips);
    EXPECT_EQ(kind_of(spec).block(spec).hosts, chips / 4);
    const double pairs_of_faces = dimensions * chips / 4.0;
    EXPECT_EQ(count_parts(spec).optical_switches, pairs_of_faces)
        << "a switch for each pair of chips on them";
  }
}

}  // namespace
}  // namespace podsim::torus_test
