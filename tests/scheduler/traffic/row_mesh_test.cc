// Rows of a mesh, and the groups that begin in them.
#include "scheduler/traffic/row_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "scheduler/placement/place.h"
#include "scheduler/traffic/tree_form.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_system.h"

namespace podsim::row_mesh_test {
namespace {

using testing::Draw;

struct Drawn {
  FabricSpec fabric;
  Mesh mesh;
};

// Stages, rows and places in them that fill servers below some tiers.
Drawn random_mesh(Draw& draw) {
  const int stages = 1 + draw.below(5), inner = 1 << draw.below(3), per_domain = 1 << draw.below(4);
  Drawn drawn;
  drawn.mesh.axes = {{"pipeline", stages}, {"data", 8 * (1 + draw.below(12))}, {"tensor", inner}};
  const bool rails = draw.below(2);
  drawn.fabric =
      testing::gpu_fabric(drawn.mesh.devices(), per_domain, (rails ? 1 : per_domain) * (1 << draw.below(4)));
  drawn.fabric.gpu->rail_optimised = rails;
  while (drawn.fabric.gpu->tiers.size() < 4 && draw.below(2))
    drawn.fabric.gpu->tiers.insert(drawn.fabric.gpu->tiers.end() - 1, {2 + draw.below(4), 1});
  return drawn;
}

TEST(RowMesh, groups_through_all_rows_are_those_along_the_axes) {
  int compared = 0;
  for (int round = 0; round < testing::rounds(300); ++round) {
    Draw draw(static_cast<std::uint64_t>(round));
    const Drawn drawn = random_mesh(draw);
    const std::optional<RegularTree> tree = RegularTree::of(drawn.fabric);
    const auto rows = tree ? RowMesh::of(*tree, drawn.mesh) : std::nullopt;
    if (!rows || rows->long_axis() != 1) continue;
    const LaidMesh laid{drawn.mesh, {{0, static_cast<std::size_t>(tree->chips())}}, 1};
    for (const AxisSet axes : {axis_bit(1), axis_bit(0) | axis_bit(1), axis_bit(1) | axis_bit(2)}) {
      const ScopeGroups groups = rows->groups(*tree, {axes});
      ASSERT_TRUE(groups.through_rows);
      const ChipGroups all = groups_along(laid.mesh, laid.placement, axes);
      ASSERT_EQ(groups.patterns.size(), all.size());
      for (std::size_t g = 0; g < all.size(); ++g) {
        const std::vector<ChipId> told = groups.through.shifted(groups.patterns[g].first).list();
        ASSERT_TRUE(std::ranges::equal(told, all[g])) << "round " << round;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(RowMesh, groups_within_rows_have_one_form_between_borders) {
  int rows_alike = 0, borders_met = 0;
  for (int round = 0; round < testing::rounds(300); ++round) {
    Draw draw(static_cast<std::uint64_t>(round));
    const Drawn drawn = random_mesh(draw);
    const std::optional<RegularTree> tree = RegularTree::of(drawn.fabric);
    const auto rows = tree ? RowMesh::of(*tree, drawn.mesh) : std::nullopt;
    if (!rows || rows->long_axis() != 1) continue;
    const std::vector<std::int32_t> borders = rows->form_borders(*tree);
    ASSERT_EQ(borders.front(), 0);
    TreeForms forms(*tree);
    for (const Scope& scope : {Scope{axis_bit(0)}, Scope{axis_bit(2)}, Scope{axis_bit(0), 1}})
      for (const GroupPattern& pattern : rows->groups(*tree, scope).patterns) {
        std::vector<std::int32_t> before;
        for (std::int32_t row = 0; row < rows->rows(); ++row) {
          std::vector<ChipId> group = pattern.offsets;
          for (ChipId& chip : group) chip += pattern.first + row * rows->width();
          const auto told = forms.form_of(group);
          const std::vector<std::int32_t> form(told.begin(), told.end());
          if (std::ranges::binary_search(borders, row)) {
            ++borders_met;
          } else {
            ASSERT_EQ(form, before) << "round " << round << ", row " << row;
            ++rows_alike;
          }
          before = form;
        }
      }
  }
  EXPECT_GT(rows_alike, borders_met);
  EXPECT_GT(borders_met, 100);
}

}  // namespace
}  // namespace podsim::row_mesh_test
