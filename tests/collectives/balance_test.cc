// Tests of the linear program that shares data among the orders of torus dimensions.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "collectives/torus_balance.h"

namespace podsim::balance_test {
namespace {

using Loads = std::vector<std::array<double, 3>>;

TEST(TorusBalance, one_order_takes_everything) {
  const auto balance = balance_orders(Loads{{0.5, 0, 0}});
  EXPECT_EQ(balance.fraction, std::vector<double>{1.0});
  EXPECT_DOUBLE_EQ(balance.load[0], 0.5);
}

TEST(TorusBalance, mirrored_orders_take_half_each) {
  const auto balance = balance_orders(Loads{{0.5, 0.1, 0}, {0.1, 0.5, 0}});
  EXPECT_DOUBLE_EQ(balance.fraction[0], 0.5);
  EXPECT_DOUBLE_EQ(balance.load[0], 0.3);
  EXPECT_EQ(balance.load[0], balance.load[1]);
}

TEST(TorusBalance, an_order_worse_everywhere_takes_nothing) {
  const auto balance = balance_orders(Loads{{0.5, 0.2, 0}, {0.6, 0.3, 0}});
  EXPECT_EQ(balance.fraction, (std::vector<double>{1.0, 0.0}));
}

TEST(TorusBalance, no_mixture_on_a_fine_grid_is_better) {
  const Loads loads = {{0.44, 0.05, 0.02}, {0.07, 0.4, 0.11}, {0.2, 0.06, 0.3}};
  const auto balance = balance_orders(loads);
  EXPECT_NEAR(std::accumulate(balance.fraction.begin(), balance.fraction.end(), 0.0), 1, 1e-12);
  const double busiest = *std::max_element(balance.load.begin(), balance.load.end());
  for (int a = 0; a <= 200; ++a)
    for (int b = 0; a + b <= 200; ++b) {
      double mixed = 0;
      for (int d = 0; d < 3; ++d)
        mixed = std::max(mixed, (a * loads[0][d] + b * loads[1][d] + (200 - a - b) * loads[2][d]) / 200);
      EXPECT_GE(mixed, busiest - 1e-12);
    }
}

}  // namespace
}  // namespace podsim::balance_test
