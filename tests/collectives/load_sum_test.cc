// Tests of the sums of link loads: order does not matter to the last bit, zeros are left out.
#include "collectives/load_sum.h"

#include <gtest/gtest.h>

namespace podsim {
namespace {

TEST(LoadSum, does_not_depend_on_the_order_of_contributions) {
  for (const LinkId distance : {1, 1'000'000}) {  // dense and sparse links are summed in different ways
    LoadSum sum;
    for (const double units : {0.1, 0.2, 0.3}) sum.add(7, units);
    for (const double units : {0.3, 0.2, 0.1}) sum.add(7 + distance, units);
    const auto loads = sum.loads(Bytes{1.0});
    ASSERT_EQ(loads.size(), 2u);
    EXPECT_EQ(loads[0].link, 7);
    EXPECT_EQ(loads[0].bytes, loads[1].bytes);
    EXPECT_NEAR(loads[0].bytes, 0.6, 1e-12);
  }
}

TEST(LoadSum, leaves_out_links_without_load) {
  LoadSum sum;
  sum.add(3, 0.0);
  sum.add(2, 1.0);
  const auto loads = sum.loads(Bytes{5.0});
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].link, 2);
  EXPECT_TRUE(LoadSum().loads(Bytes{1.0}).empty());
}

}  // namespace
}  // namespace podsim
