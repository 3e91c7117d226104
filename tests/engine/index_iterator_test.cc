// Lists that are told by index, and long arrays of zeros.
#include "engine/index_iterator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "engine/zero_array.h"

namespace podsim {
namespace {

struct Squares {
  int count;
  int operator[](std::size_t i) const { return static_cast<int>(i * i); }
  IndexIterator<Squares, int> begin() const { return {this, 0}; }
  IndexIterator<Squares, int> end() const { return {this, count}; }
};

TEST(IndexIterator, serves_searches_and_counts_of_a_list_that_nothing_stores) {
  const Squares squares{100};
  static_assert(std::random_access_iterator<IndexIterator<Squares, int>>);
  EXPECT_EQ(std::ranges::lower_bound(squares, 50) - squares.begin(), 8);
  EXPECT_EQ(std::ranges::count_if(squares, [](int square) { return square % 2 == 0; }), 50);
  EXPECT_TRUE(std::ranges::is_sorted(squares));
  auto at = squares.begin() + 3;
  EXPECT_EQ(*at++, 9);
  EXPECT_EQ(*--at, 9);
  EXPECT_EQ((2 + at)[-1], 16);
  EXPECT_EQ(squares.end() - at, 97);
  EXPECT_LT(at, squares.end());
}

TEST(ZeroArray, holds_zeros_where_nothing_was_written) {
  ZeroArray<std::int32_t> array(1 << 20), none(0);
  array[12345] = 7;
  for (std::size_t i = 0; i < 1 << 20; ++i) ASSERT_EQ(array[i], i == 12345 ? 7 : 0);
}

}  // namespace
}  // namespace podsim
