// What the event loop remembers: members of rendezvous.
#include "scheduler/simulation/state/running.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace podsim::running_test {
namespace {

std::vector<std::int32_t> list(const Members& members) { return {members.begin(), members.end()}; }

TEST(Members, are_those_of_the_group_in_their_order_and_stay_so_in_a_copy) {
  for (const std::vector<std::int32_t>& group :
       {std::vector<std::int32_t>{}, {4}, {9, 4}, {9, 4, 6}, {1, 2, 3, 4, 5, 6, 7, 8}}) {
    Rendezvous rendezvous;
    rendezvous.members = Members(group);
    const Rendezvous copy = rendezvous;
    rendezvous.members = Members();
    EXPECT_EQ(list(copy.members), group);
    EXPECT_EQ(copy.members.size(), group.size());
    EXPECT_EQ(list(rendezvous.members), std::vector<std::int32_t>{});
  }
}

TEST(Members, of_a_transfer_are_its_source_and_its_destination) {
  const std::vector<std::int32_t> group = {70, 12};
  const Members members(group);
  EXPECT_EQ(members.front(), 70);
  EXPECT_EQ(members[1], 12);
}

}  // namespace
}  // namespace podsim::running_test
