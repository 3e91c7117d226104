// How figures of runs of weeks spread, against values that can be counted.
#include "report/summary/summarize_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace podsim::summarize_runs_test {
namespace {

TEST(Spread, of_twenty_values_in_any_order_has_their_nearest_ranks) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(1 + 7 * i % 20);  // 1 to 20
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.p05, 1);
  EXPECT_EQ(spread.p10, 2);
  EXPECT_EQ(spread.p50, 10);
  EXPECT_EQ(spread.p90, 18);
  EXPECT_EQ(spread.p95, 19);
  EXPECT_EQ(spread.mean, 10.5);
  EXPECT_DOUBLE_EQ(spread.standard_deviation, std::sqrt(35)) << "(n^2 - 1) / 12 x n / (n - 1)";
  EXPECT_DOUBLE_EQ(spread.standard_error, std::sqrt(35.0 / 20));
}

TEST(Spread, of_one_value_is_that_value) {
  const Spread spread = spread_of({0.9});
  for (const double figure : {spread.mean, spread.p05, spread.p10, spread.p50, spread.p90, spread.p95})
    EXPECT_EQ(figure, 0.9);
  EXPECT_EQ(spread.standard_deviation, 0);
}

}  // namespace
}  // namespace podsim::summarize_runs_test
