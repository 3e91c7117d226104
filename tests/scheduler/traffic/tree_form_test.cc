// Forms by arithmetic against forms of listed nodes.
#include "scheduler/traffic/tree_form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/traffic/group_forms.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_system.h"

namespace podsim::tree_form_test {
namespace {

using testing::Draw;

FabricSpec random_tree(Draw& draw) {
  const int per_domain = 1 << draw.below(4);
  const bool rails = draw.below(2);
  FabricSpec spec = testing::gpu_fabric(per_domain * 2 * (2 + draw.below(12)), per_domain,
                                        (rails ? 1 : per_domain) * (1 << draw.below(3)));
  spec.gpu->rail_optimised = rails;
  while (spec.gpu->tiers.size() < 4 && draw.below(2))
    spec.gpu->tiers.insert(spec.gpu->tiers.end() - 1, {2 + draw.below(4), 1});
  return spec;
}

// Some chips at one distance, in order or not, so that several groups often have one form.
std::vector<ChipId> random_group(Draw& draw, int chips) {
  const int stride = 1 + draw.below(8), members = std::min(1 + draw.below(8), (chips - 1) / stride + 1);
  std::vector<ChipId> group(static_cast<std::size_t>(members));
  std::iota(group.begin(), group.end(), 0);
  if (draw.below(3) == 0) std::rotate(group.begin(), group.begin() + draw.below(members), group.end());
  const int first = draw.below(chips - (members - 1) * stride);
  for (ChipId& chip : group) chip = first + chip * stride;
  return group;
}

bool below_one_leaf(const RegularTree& tree, const std::vector<ChipId>& group) {
  return std::ranges::all_of(
      group, [&](ChipId chip) { return tree.above(0, chip) == tree.above(0, group.front()); });
}

// Of groups below one leaf the listed form also says what lies above that.
TEST(TreeForms, are_equal_where_those_of_listed_nodes_are_on_1000_random_trees) {
  int equal = 0, different = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    Draw draw(static_cast<std::uint64_t>(round));
    const FabricSpec spec = random_tree(draw);
    const std::optional<RegularTree> tree = RegularTree::of(spec);
    if (!tree) continue;
    const Fabric fabric = build_fabric(spec);
    GroupForms listed(fabric);
    TreeForms told(*tree);
    const auto listed_form = [&](const std::vector<ChipId>& group) {
      listed.look(group);
      return listed.form();
    };
    const auto told_form = [&](const std::vector<ChipId>& group) {
      const std::span<const std::int32_t> form = told.form_of(group);
      return std::vector(form.begin(), form.end());
    };
    for (int i = 0; i < 40; ++i) {
      const std::vector<ChipId> a = random_group(draw, spec.chips), b = random_group(draw, spec.chips);
      const bool as_listed = listed_form(a) == listed_form(b), as_told = told_form(a) == told_form(b);
      if (below_one_leaf(*tree, a))
        EXPECT_LE(as_listed, as_told) << "round " << round;
      else
        EXPECT_EQ(as_listed, as_told) << "round " << round;
      ++(as_told ? equal : different);
    }
  }
  EXPECT_GT(equal, different / 100);
  EXPECT_GT(different, equal / 100);
}

// Rows of chips that lie below a leaf each, from some starts on.
StridedGroup random_rows(Draw& draw, const RegularTree& tree) {
  const ChipId stride = tree.domain() * (1 + draw.below(2)), rows = 1 + draw.below(6);
  std::vector<ChipId> starts = {0}, offsets = {0};
  for (int more = draw.below(3); more > 0; --more)
    starts.push_back(starts.back() + (rows + draw.below(3)) * stride);
  while (offsets.back() + 2 < stride && draw.below(2)) offsets.push_back(offsets.back() + 1 + draw.below(2));
  return {starts, rows, stride, offsets};
}

TEST(TreeForms, of_rows_are_equal_where_those_of_their_lists_are_on_1000_random_trees) {
  int equal = 0, different = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    Draw draw(static_cast<std::uint64_t>(round));
    const FabricSpec spec = random_tree(draw);
    const std::optional<RegularTree> tree = RegularTree::of(spec);
    if (!tree) continue;
    TreeForms forms(*tree);
    const auto form = [&](const auto& group) {
      const std::span<const std::int32_t> told = forms.form_of(group);
      return std::vector(told.begin(), told.end());
    };
    const StridedGroup rows = random_rows(draw, *tree);
    if (rows.back() >= spec.chips) continue;
    for (int i = 0; i < 40; ++i) {
      const auto shifted = [&] { return rows.shifted(draw.below(spec.chips - rows.back())); };
      const StridedGroup a = shifted(), b = shifted();
      const bool in_rows = [&] {  // else one is told by its list
        for (const StridedGroup* group : {&a, &b})
          if (group->front() % rows.stride() + rows.offsets().back() >= rows.stride()) return false;
        return true;
      }();
      if (!in_rows) continue;
      const bool as_listed = form(a.list()) == form(b.list());
      ASSERT_EQ(form(a) == form(b), as_listed) << "round " << round;
      ++(as_listed ? equal : different);
    }
  }
  EXPECT_GT(equal, different / 100);
  EXPECT_GT(different, equal / 100);
}

}  // namespace
}  // namespace podsim::tree_form_test
