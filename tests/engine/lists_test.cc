// Many short lists in one piece of memory.
#include "engine/lists.h"

#include <gtest/gtest.h>

#include <vector>

namespace podsim::lists_test {
namespace {

TEST(Lists, keep_what_each_holds_in_its_order) {
  const std::vector<std::vector<int>> held = {{3, 1}, {}, {2}, {}};
  const Lists<int> lists(held);
  ASSERT_EQ(lists.size(), 4u);
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::span<const int> list = lists[i];
    EXPECT_EQ(std::vector<int>(list.begin(), list.end()), held[i]);
  }
  EXPECT_EQ(lists.begin_of(2), 2u);
  EXPECT_EQ(lists.all().size(), 3u);
}

TEST(Lists, are_none_at_first) { EXPECT_TRUE(Lists<int>().empty()); }

}  // namespace
}  // namespace podsim::lists_test
