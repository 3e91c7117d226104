// Lists of axes side by side, and what of a dimension's axes lies on each of its factors.
#include "workload/sharding/factor_projection.h"

#include <gtest/gtest.h>

namespace podsim::testing::factor_projection_test {
namespace {

// x has 8 devices, y 4.
constexpr AxisRef kX{0, 1, 8}, kX1{0, 1, 2}, kX2{0, 2, 4}, kY{1, 1, 4};

TEST(AxisLists, the_common_start_may_end_inside_an_axis) {
  EXPECT_EQ(common_start({kX, kY}, {kX}), AxisList{kX});
  EXPECT_EQ(common_start({kX, kY}, {kX1, kY}), AxisList{kX1});
  EXPECT_EQ(common_start({kX}, {kX1, kX2}), AxisList{kX});
  EXPECT_TRUE(common_start({kX}, {kY}).empty());
  EXPECT_TRUE(common_start({kX2}, {kX}).empty());
}

TEST(AxisLists, the_rest_after_a_start_begins_inside_an_axis) {
  EXPECT_EQ(rest_after({kX1}, {kX, kY}), (AxisList{kX2, kY}));
  EXPECT_EQ(rest_after({}, {kY}), AxisList{kY});
  EXPECT_EQ(rest_after({kX}, {kX}), AxisList{});
  EXPECT_EQ(rest_after({kX, kY}, {kX}), std::nullopt);
  EXPECT_EQ(rest_after({kY}, {kX}), std::nullopt);
  EXPECT_TRUE(begins_with({kX, kY}, {kX1}));
  EXPECT_FALSE(begins_with({kX1}, {kX}));
}

TEST(AxisLists, what_is_taken_ends_a_list_inside_an_axis_where_its_major_part_is_free) {
  EXPECT_EQ(free_start({kY, kX}, {kX2}), (AxisList{kY, kX1}));
  EXPECT_EQ(free_start({kY, kX}, {kX1}), AxisList{kY});
  EXPECT_EQ(free_start({kX, kY}, {{0, 4, 2}, {0, 2, 2}}), AxisList{kX1});
  EXPECT_EQ(free_start({kX}, {kY}), AxisList{kX});
}

TEST(AxisLists, axes_divide_a_size_as_far_as_they_go) {
  EXPECT_EQ(dividing_start({kX, kY}, 16), (AxisList{kX, {1, 1, 2}}));
  EXPECT_EQ(dividing_start({kX, kY}, 6), AxisList{kX1});
  EXPECT_TRUE(dividing_start({kX}, 3).empty());
}

OpRule products(std::int64_t major, std::int64_t minor) {
  OpRule rule;
  rule.add({major});
  rule.add({minor});
  return rule;
}

TEST(FactorAxes, a_dimension_of_one_factor_has_all_axes_on_it_whether_they_divide_it_or_not) {
  const FactorAxes axes = factor_axes(products(3, 5), {0}, 0, {kX});
  EXPECT_EQ(axes.axes, AxisList{kX});
  EXPECT_TRUE(axes.extensible);
  EXPECT_EQ(axes.fitting({kY}), AxisList{kY});
}

TEST(FactorAxes, an_axis_goes_on_from_a_full_major_factor_to_the_minor_one) {
  const OpRule rule = products(2, 16);
  EXPECT_EQ(factor_axes(rule, {0, 1}, 0, {kX}).axes, AxisList{kX1});
  EXPECT_FALSE(factor_axes(rule, {0, 1}, 0, {kX}).extensible);
  const FactorAxes minor = factor_axes(rule, {0, 1}, 1, {kX});
  EXPECT_EQ(minor.axes, AxisList{kX2});
  EXPECT_TRUE(minor.extensible);
  EXPECT_EQ(minor.room, 4);
  EXPECT_EQ(minor.fitting({kY}), AxisList{kY});
}

TEST(FactorAxes, a_minor_factor_stays_whole_behind_a_major_one_that_is_not_cut_to_the_end) {
  const OpRule rule = products(16, 4);
  EXPECT_EQ(factor_axes(rule, {0, 1}, 0, {kX}).fitting({kY}), (AxisList{{1, 1, 2}}));
  EXPECT_TRUE(factor_axes(rule, {0, 1}, 1, {kX}).axes.empty());
  EXPECT_FALSE(factor_axes(rule, {0, 1}, 1, {kX}).extensible);
}

TEST(FactorAxes, axes_that_divide_no_factor_belong_to_none_and_end_the_dimension) {
  const OpRule rule = products(3, 4);
  for (int factor : {0, 1}) {
    const FactorAxes axes = factor_axes(rule, {0, 1}, factor, {kX});
    EXPECT_TRUE(axes.axes.empty());
    EXPECT_FALSE(axes.extensible);
    EXPECT_TRUE(axes.fitting({kY}).empty());
  }
}

}  // namespace
}  // namespace podsim::testing::factor_projection_test
