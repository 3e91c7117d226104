// Combinations of parameters that move the same numbers.
#include "calibration/slope_basis.h"

#include <gtest/gtest.h>

namespace podsim::slope_basis_test {
namespace {

void expect_near(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-9) << i;
}

TEST(SlopeBasis, independent_parameters_are_all_moved) {
  const SlopeBasis basis = slope_basis({{1, 0}, {0, 2}});
  EXPECT_EQ(basis.moved, (std::vector<std::size_t>{0, 1}));
  expect_near(basis.combination[0], {1, 0});
  expect_near(basis.combination[1], {0, 1});
}

TEST(SlopeBasis, a_shared_line_with_twice_the_spread_has_twice_the_slope) {
  const SlopeBasis basis = slope_basis({{0.03, 0.03}, {0.06, 0.06}});
  EXPECT_EQ(basis.moved, std::vector<std::size_t>{0});
  expect_near(basis.combination[1], {2});
}

TEST(SlopeBasis, a_line_over_two_kinds_of_numbers_is_the_sum_of_both) {
  const SlopeBasis basis = slope_basis({{0.03, 0}, {0, 0.04}, {0.05, 0.05}});
  EXPECT_EQ(basis.moved, (std::vector<std::size_t>{0, 1}));
  expect_near(basis.combination[2], {0.05 / 0.03, 0.05 / 0.04});
}

TEST(SlopeBasis, what_moves_nothing_has_no_slope) {
  const SlopeBasis basis = slope_basis({{0, 0}, {1, 0}});
  EXPECT_EQ(basis.moved, std::vector<std::size_t>{1});
  expect_near(basis.combination[0], {0});
  EXPECT_TRUE(slope_basis({}).moved.empty());
  EXPECT_TRUE(slope_basis({{}, {}}).moved.empty());
}

TEST(SlopeBasis, a_sum_that_comes_first_is_moved_itself) {
  const SlopeBasis basis = slope_basis({{1, 1}, {1, 0}, {0, 1}});
  EXPECT_EQ(basis.moved, (std::vector<std::size_t>{0, 1}));
  expect_near(basis.combination[2], {1, -1});
}

}  // namespace
}  // namespace podsim::slope_basis_test
