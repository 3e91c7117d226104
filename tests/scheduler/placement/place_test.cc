// Rules of placement.
#include "scheduler/placement/place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scheduler/question/spec.h"
#include "tests/scheduler/fixture.h"

namespace podsim::place_test {
namespace {

FabricSpec torus(std::array<int, 3> shape, int slices = 1) {
  FabricSpec spec = testing::ring_fabric(4);
  spec.torus->shape = shape;
  spec.torus->dimensions = 3;
  spec.slices = slices;
  spec.chips = shape[0] * shape[1] * shape[2] * slices;
  spec.dcn = {{25e9}, 1, Time::seconds(1e-5)};
  return spec;
}

TEST(Place, the_innermost_axis_shares_an_nvlink_domain) {
  Fabric fabric = build_fabric(testing::gpu_fabric(32, 8, 8));
  Mesh mesh{{{"data", 4}, {"tensor", 8}}};
  Placement placement = place(fabric, mesh, {});
  for (const auto& group : groups_along(mesh, placement, 0b10))
    for (ChipId chip : group) EXPECT_EQ(chip / 8, group.front() / 8);
}

TEST(Place, each_axis_takes_whole_torus_dimensions_when_sizes_allow) {
  Fabric fabric = build_fabric(torus({4, 4, 8}));
  Mesh mesh{{{"fsdp", 16}, {"tensor", 8}}};
  Placement placement = place(fabric, mesh, {});
  for (const auto& group : groups_along(mesh, placement, 0b10)) {
    std::set<std::pair<int, int>> lines;
    for (ChipId chip : group) {
      auto at = fabric.slices[0].coordinate(chip);
      lines.insert({at[0], at[1]});
    }
    EXPECT_EQ(lines.size(), 1u) << "tensor lies along z";
  }
}

TEST(Place, the_users_dimensions_are_kept) {
  FabricSpec spec = torus({8, 8, 8});
  Fabric fabric = build_fabric(spec);
  Mesh mesh{{{"data", 8}, {"fsdp", 8}, {"tensor", 8}}};
  std::vector<AxisPlacement> chosen = {{"tensor", {2}}};
  ASSERT_EQ(explain_invalid(spec, mesh, chosen), "");
  Placement placement = place(fabric, mesh, chosen);
  const ChipGroups groups = groups_along(mesh, placement, 0b100);
  const auto group = groups.front();
  EXPECT_EQ(fabric.slices[0].coordinate(group[1])[2], 1);
}

TEST(Place, groups_come_in_the_order_of_their_first_devices_and_members_row_by_row) {
  const Fabric fabric = build_fabric(testing::gpu_fabric(12, 4, 4));
  const Mesh mesh{{{"pipeline", 2}, {"data", 3}, {"tensor", 2}}};
  const Placement placement = place(fabric, mesh, {});
  const auto listed = [&](AxisSet axes) {
    std::vector<std::vector<ChipId>> groups;
    for (const std::span<const ChipId> group : groups_along(mesh, placement, axes))
      groups.emplace_back(group.begin(), group.end());
    return groups;
  };
  using Groups = std::vector<std::vector<ChipId>>;
  EXPECT_EQ(listed(0b010), (Groups{{0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}}));
  EXPECT_EQ(listed(0b101), (Groups{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}}));
  EXPECT_EQ(listed(0), (Groups{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}}));
}

TEST(Place, coordinates_times_strides_are_the_device_and_the_steps_of_its_group_lead_to_no_other_row) {
  const Mesh mesh{{{"pipeline", 2}, {"data", 3}, {"tensor", 4}}};
  for (int device = 0; device < mesh.devices(); ++device) {
    const std::vector<int> at = mesh.coordinates(device);
    int sum = 0;
    for (int axis = 0; axis < 3; ++axis) sum += at[static_cast<std::size_t>(axis)] * mesh.stride(axis);
    EXPECT_EQ(sum, device);
  }
  for (AxisSet axes = 0; axes < 8; ++axes) {
    const std::vector<std::size_t> steps = steps_in_group(mesh, axes);
    EXPECT_EQ(steps.size(), static_cast<std::size_t>(shard_count(mesh, axes)));
    EXPECT_TRUE(std::ranges::is_sorted(steps));
    for (const std::size_t step : steps) {
      const std::vector<int> at = mesh.coordinates(static_cast<int>(step));
      for (std::size_t axis = 0; axis < 3; ++axis)
        EXPECT_TRUE((axes >> axis & 1) != 0 || at[axis] == 0) << axes;
    }
  }
}

TEST(Place, a_piece_of_an_axis_has_the_stride_of_its_minor_digits) {
  const Mesh mesh{{{"data", 8}, {"tensor", 3}}};  // data: 2 x 2 x 2, of which the middle is a piece
  EXPECT_EQ(steps_in_group(mesh, AxisList{{0, 2, 2}}), (std::vector<std::size_t>{0, 2 * 3}));
}

TEST(Place, every_chip_holds_exactly_one_device) {
  for (auto shape : {std::array<int, 3>{4, 4, 4}, std::array<int, 3>{4, 8, 8}, std::array<int, 3>{3, 5, 2}}) {
    Fabric fabric = build_fabric(torus(shape, 2));
    Mesh mesh{{{"data", 2}, {"fsdp", fabric.chips / 2}}};
    Placement placement = place(fabric, mesh, {});
    EXPECT_EQ(std::set<ChipId>(placement.chip_of_device.begin(), placement.chip_of_device.end()).size(),
              placement.chip_of_device.size());
  }
}

TEST(Place, the_outermost_axis_runs_over_the_slices) {
  Fabric fabric = build_fabric(torus({4, 4, 4}, 2));
  Mesh mesh{{{"data", 4}, {"fsdp", 32}}};
  Placement placement = place(fabric, mesh, {});
  for (const auto& group : groups_along(mesh, placement, 0b10))
    for (ChipId chip : group) EXPECT_EQ(chip / 64, group.front() / 64);
}

TEST(Place, an_axis_that_does_not_fill_its_dimensions_is_explained) {
  Mesh mesh{{{"fsdp", 32}, {"tensor", 4}}};
  EXPECT_EQ(explain_invalid(torus({4, 4, 8}), mesh, {{"tensor", {2}}}),
            "axis tensor has 4 devices in a slice, but its torus dimensions hold 8");
  EXPECT_EQ(explain_invalid(torus({4, 4, 8}), mesh, {{"tensors", {2}}}), "there is no mesh axis tensors");
}

}  // namespace
}  // namespace podsim::place_test
