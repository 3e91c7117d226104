// Groups that are told by their distances against lists of their members.
#include "collectives/strided_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace podsim::strided_group_test {
namespace {

const StridedGroup kGroup({3, 40}, 4, 8, {0, 1, 5});

TEST(StridedGroup, lists_rows_of_chips_from_each_start) {
  EXPECT_EQ(kGroup.list(), (std::vector<ChipId>{3,  4,  8,  11, 12, 16, 19, 20, 24, 27, 28, 32,
                                                40, 41, 45, 48, 49, 53, 56, 57, 61, 64, 65, 69}));
  EXPECT_EQ(StridedGroup({7}, 1, 0, {0}).list(), (std::vector<ChipId>{7}));
}

TEST(StridedGroup, has_the_members_of_its_list) {
  const std::vector<ChipId> list = kGroup.list();
  EXPECT_EQ(kGroup.size(), list.size());
  EXPECT_TRUE(std::equal(kGroup.begin(), kGroup.end(), list.begin(), list.end()));
  EXPECT_EQ(kGroup.front(), list.front());
  EXPECT_EQ(kGroup.back(), list.back());
}

TEST(StridedGroup, finds_the_first_member_that_is_not_below_a_chip) {
  const std::vector<ChipId> list = kGroup.list();
  for (ChipId chip = 0; chip < 80; ++chip)
    EXPECT_EQ(kGroup.lower_bound(chip),
              static_cast<std::size_t>(std::ranges::lower_bound(list, chip) - list.begin()))
        << chip;
}

TEST(StridedGroup, shifted_has_every_member_by_as_much_further) {
  std::vector<ChipId> list = kGroup.list();
  for (ChipId& chip : list) chip += 5;
  EXPECT_EQ(kGroup.shifted(5).list(), list);
}

}  // namespace
}  // namespace podsim::strided_group_test
